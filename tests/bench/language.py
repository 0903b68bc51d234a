"""Measures what the language of terms is held to: its size, how much of the code has no type, what is kept between processes,
and how long protocols take to build and first answers to come.

Run by ``make bench``. A command of which nothing is kept has a folder of its own for object code: what a container in CI finds.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.bench import show
from tests.bench.whole_commands import BOOKKEEPER, timed
from tests.command import ROOT, command

FLOORS = ("model", "properties", "traces", "checks")
BUILD = """
from fencepost.checks.questions.planning import Wanted, planned
from fencepost.properties.registry import Entry
for item, instance in planned(Wanted((), (), None, (), (), None, ()), None):
    if isinstance(item, Entry):
        _ = item.suite(item.build(instance.parameters)).properties
"""


def untyped() -> int:
    """Lines of the four floors with the word Any."""
    word = re.compile(r"\bAny\b")
    modules = (module for floor in FLOORS for module in (ROOT / floor).rglob("*.py"))
    return sum(bool(word.search(line)) for module in modules for line in module.read_text(encoding="utf-8").splitlines())


def size(*rooms: str) -> tuple[int, int]:
    """Lines and modules of rooms."""
    modules = [module for room in rooms for module in (ROOT / room).glob("*.py")]
    return sum(len(module.read_text(encoding="utf-8").splitlines()) for module in modules), len(modules)


def kept(folder: Path) -> str:
    """The kinds of what is kept in a folder between processes."""
    return ", ".join(sorted({place.name.partition("-")[0] for place in folder.iterdir() if place.is_dir()}))


def main() -> None:
    """Prints a row for each measure, with its goal."""
    print(f"# load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    lines, modules = size("model/language")
    beside, others = size("model/any_size", "model/analysis")
    rows = [
        ["", "measured", "goal"],
        ["lines that say Any in model, properties, traces, checks", str(untyped()), "< 300"],
        ["model/language, lines", f"{lines:,}", "3,000"],
        ["model/language, modules", str(modules), "18"],
        ["what was among these: model/any_size and model/analysis, lines", f"{beside:,}", ""],
        ["model/any_size and model/analysis, modules", str(others), ""],
    ]
    with tempfile.TemporaryDirectory() as place:
        folder, fresh = Path(place), Path(place) / "kept"
        (folder / "broker.conf").write_bytes((ROOT / "docs/examples/broker.conf").read_bytes())
        (folder / "bookkeeper.conf").write_text(BOOKKEEPER, encoding="utf-8")
        of_files = ["--conf", "broker.conf", "--conf", "bookkeeper.conf"]
        built = timed([sys.executable, "-c", BUILD], folder)
        rows.append(["building all instances of the default check, seconds of a processor", f"{built.processor:.1f}", ""])
        for name, words, nothing_kept, goal in (
            ("check election, to the first verdict", ["election"], False, "0.35"),
            ("check --conf, object code kept, to the first line", of_files, False, "2"),
            ("check --conf, object code kept, to the end", of_files, False, "8"),
            ("check --conf, nothing kept, to the end", of_files, True, "20"),
            ("check, to the end", [], False, "15"),
        ):
            took = timed(command("check", *words, "--quiet"), folder, {"NUMBA_CACHE_DIR": str(fresh)} if nothing_kept else {})
            rows.append([f"{name}, s", f"{took.first if 'first' in name else took.end:.2f}", goal])
        rows.append(["kept between processes", kept(fresh), "products, loops"])
    show(rows)


if __name__ == "__main__":
    main()
