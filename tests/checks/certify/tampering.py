"""Ways to tamper with a certificate, drawn at random: what is changed, and whether the digests are made to fit again."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path

MANIFEST = "certificate.json"


def tamper(folder: Path, seed: int) -> str:
    """Tampers with the certificate in a folder; returns in words how. The files differ afterwards from what they were."""
    draw = random.Random(seed)
    before = _content(folder)
    while True:
        way = draw.choice(WAYS)
        way(folder, draw)
        words = way.__name__
        if draw.random() < 0.7 and fit_digests(folder):
            words += ", with digests that fit"
        if _content(folder) != before:
            return words
        for path in folder.iterdir():
            path.unlink()
        for name, data in before.items():
            (folder / name).write_bytes(data)


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def fit_digests(folder: Path) -> bool:
    """Has the manifest name the files that are there, with their digests; False if it is no longer one."""
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
        files = {name: data for name, data in _content(folder).items() if name != MANIFEST}
        manifest["files"] = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    except (OSError, ValueError, TypeError, RecursionError):
        return False
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return True


def _any_file(folder: Path, draw: random.Random) -> Path:
    return draw.choice(sorted(folder.iterdir()))


def _a_script(folder: Path, draw: random.Random) -> Path:
    return draw.choice(sorted(folder.glob("*.smt2")))


def _with_json(folder: Path, name: str, change: Callable[[dict[str, object]], None]) -> None:
    try:
        content = json.loads((folder / name).read_bytes())
        change(content)
    except (OSError, ValueError, RecursionError):
        return
    (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def a_byte(folder: Path, draw: random.Random) -> None:
    path = _any_file(folder, draw)
    data = bytearray(path.read_bytes())
    data[draw.randrange(len(data))] = draw.randrange(256)
    path.write_bytes(data)


def a_line_away(folder: Path, draw: random.Random) -> None:
    path = _any_file(folder, draw)
    lines = path.read_bytes().splitlines(keepends=True)
    del lines[draw.randrange(len(lines))]
    path.write_bytes(b"".join(lines))


def a_line_twice(folder: Path, draw: random.Random) -> None:
    path = _any_file(folder, draw)
    lines = path.read_bytes().splitlines(keepends=True)
    place = draw.randrange(len(lines))
    path.write_bytes(b"".join([*lines[:place], lines[place], *lines[place:]]))


def lines_exchanged(folder: Path, draw: random.Random) -> None:
    path = _any_file(folder, draw)
    lines = path.read_bytes().splitlines(keepends=True)
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    path.write_bytes(b"".join(lines))


def a_supposition_more(folder: Path, draw: random.Random) -> None:
    more = draw.choice(["(assert false)", "(assert (= #b1 #b0))", "(set-info :status unsat)", "(push 1)"])
    for path in sorted(folder.glob("*.smt2"))[draw.randrange(3) :]:
        path.write_text(path.read_text("utf-8").replace("(push 1)", f"{more}\n(push 1)", 1), encoding="utf-8")


def a_lemma_for_everything(folder: Path, draw: random.Random) -> None:
    """A hypothesis that nothing asks about, supposed wherever the invariant is."""
    for path in sorted(folder.glob("*.smt2"))[1:]:
        text = path.read_text("utf-8")
        path.write_text(text.replace("(assert ", "(assert false)\n(assert ", 1), encoding="utf-8")


def questions_that_are_easy(folder: Path, draw: random.Random) -> None:
    path = _a_script(folder, draw)
    lines = path.read_text("utf-8").splitlines()
    easy = ["(assert (not true))" if line.startswith("(assert (not ") else line for line in lines]
    path.write_text("\n".join([*easy, ""]), encoding="utf-8")


def a_file_away(folder: Path, draw: random.Random) -> None:
    _any_file(folder, draw).unlink()


def a_script_left_out(folder: Path, draw: random.Random) -> None:
    path = _a_script(folder, draw)
    path.unlink()

    def without(index: dict[str, object]) -> None:
        scripts = index.get("scripts")
        if isinstance(scripts, list):
            index["scripts"] = [entry for entry in scripts if entry["file"] != path.name]

    _with_json(folder, "index.json", without)


def a_file_more(folder: Path, draw: random.Random) -> None:
    (folder / draw.choice(["999-more.smt2", "notes.txt", ".hidden", "005-again.smt2"])).write_bytes(b"(exit)\n")


def scripts_exchanged(folder: Path, draw: random.Random) -> None:
    one, other = draw.sample(sorted(folder.glob("*.smt2")), 2)
    data = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(data)


def another_shape(folder: Path, draw: random.Random) -> None:
    """JSON of another kind somewhere in one of the two files that are JSON."""
    strange = draw.choice([None, 7, -1, [], {}, "x", "\x1b[2J", 10**30, True, [[]], {"file": 3}])

    def change(content: dict[str, object]) -> None:
        holder: object = content
        for _ in range(draw.randrange(4)):
            inner = list(holder.values()) if isinstance(holder, dict) else holder if isinstance(holder, list) else []
            nested = [one for one in inner if isinstance(one, (dict, list)) and one]
            if nested:
                holder = draw.choice(nested)
        if isinstance(holder, dict):
            holder[draw.choice(sorted(holder))] = strange
        elif isinstance(holder, list):
            holder[draw.randrange(len(holder))] = strange

    _with_json(folder, draw.choice([MANIFEST, "index.json"]), change)


def another_claim(folder: Path, draw: random.Random) -> None:
    """Another instance, version, property or defect than the one that was proved."""
    changes: list[tuple[str, object]] = [
        ("parameters", {"brokers": 3}),
        ("parameters", {"brokers": 10**9}),
        ("parameters", {"../x": 1}),
        ("defects", ["leaky"]),
        ("defects", [3]),
        ("protocol", "ownership"),
        ("protocol", "lamp.py"),
        ("protocol", "../lamp"),
        ("fencepost", "0.0.1"),
        ("format", 1),
        ("proves", ["everything"]),
        ("about", "a cluster of three brokers"),
    ]
    key, value = draw.choice(changes)
    _with_json(folder, MANIFEST, lambda manifest: manifest.__setitem__(key, value))


def no_json(folder: Path, draw: random.Random) -> None:
    path = folder / draw.choice([MANIFEST, "index.json"])
    data = path.read_bytes()
    nonsense = [b"", b"[" * 100_000, b"\xff\xfe\x00", data[: len(data) // 2], b"9" * 5000, b"null", data + data]
    path.write_bytes(draw.choice(nonsense))


WAYS: tuple[Callable[[Path, random.Random], None], ...] = (
    *(a_byte, a_line_away, a_line_twice, lines_exchanged, a_supposition_more, a_lemma_for_everything, questions_that_are_easy),
    *(a_file_away, a_script_left_out, a_file_more, scripts_exchanged, another_shape, another_claim, no_json),
)
