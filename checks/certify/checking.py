"""Checking a certificate from its text alone. Nothing here, nor what it runs, is used by what makes certificates; the form of
the files is all that both know. That the formulas are those of a protocol is for ``remaking`` to show.

A folder has ``certificate.json``, which names every other file with its SHA-256 digest; ``index.json``, which has of each
script the statements that it asks about, in order; and the scripts. A script declares variables and supposes formulas, one
command on each line, and then asks of one formula after another whether its negation can hold. The suppositions of an action's
script are those of the script on what is implied, the invariant, and the action's guard.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

MANIFEST, INDEX = "certificate.json", "index.json"
FORMAT = 2
LEAST = 3
"""Scripts that a proof has at least: on the initial states, on what the invariant implies, and on an action."""

ANSWERS = Path(__file__).with_name("answers.py")
SOLVERS = ("z3", "cvc5")
_SUPPOSING = ("(set-info ", "(set-logic QF_BV)", "(declare-const ", "(assert ")


class CertificateError(Exception):
    """A certificate that is not as it was made; the message says which file is not, and how."""


@dataclass(frozen=True)
class Script:
    """One script: its file, what it supposes, as text, and its questions with the statements that they are about."""

    name: str
    about: str
    supposed: str
    questions: tuple[str, ...]
    statements: tuple[str, ...]

    @property
    def text(self) -> str:
        """The script with one more question, asked first: whether what is supposed can be."""
        return "\n".join([self.supposed, "(check-sat)", *self.questions, ""])


@dataclass(frozen=True)
class Doubt:
    """Why a certificate is not accepted: a solver refutes an obligation, or does not answer."""

    refuted: bool
    text: str


@dataclass(frozen=True)
class Certificate:
    """A certificate as it was read: the digest of its manifest, what it is about, and the scripts."""

    digest: str
    manifest: dict[str, Any]
    scripts: tuple[Script, ...]

    @property
    def obligations(self) -> int:
        return sum(len(script.statements) for script in self.scripts)


def read(folder: Path) -> Certificate:
    """Reads a certificate. CertificateError if a file is missing, is another than it was, or is not of its form."""
    text = _bytes(folder, MANIFEST)
    manifest = _object(folder / MANIFEST, text)
    if manifest.get("format") != FORMAT:
        raise CertificateError(
            f"{folder / MANIFEST}: it is not a certificate of format {FORMAT}; have the check write it again"
        )
    digests = _field(folder / MANIFEST, manifest, "files", dict)
    there = {path.name for path in folder.iterdir()} - {MANIFEST}
    for name in sorted(there - digests.keys()):
        raise CertificateError(f"{folder / name}: the certificate does not name it")
    for name, digest in digests.items():
        if hashlib.sha256(_bytes(folder, name)).hexdigest() != digest:
            raise CertificateError(f"{folder / name}: it was changed since it was certified")
    index = _object(folder / INDEX, _bytes(folder, INDEX))
    entries = [_entry(folder / INDEX, entry) for entry in _field(folder / INDEX, index, "scripts", list)]
    names = [entry.name for entry in entries]
    if sorted([INDEX, *names]) != sorted(digests) or len(entries) < LEAST:
        raise CertificateError(f"{folder / INDEX}: its scripts are not those of the certificate")
    if any(not name.startswith(f"{number:03}-") for number, name in enumerate(names)):
        raise CertificateError(f"{folder / INDEX}: a script is left out, or they are out of order")
    scripts = tuple(_script(folder, entry) for entry in entries)
    _vet(folder, _properties(folder / INDEX, index), entries, scripts)
    return Certificate(hashlib.sha256(text).hexdigest(), manifest, scripts)


@dataclass(frozen=True)
class _Entry:
    """What the index has of a script: its file, what it is about, the statements that it asks about with their kinds, and those
    in which its action changes nothing."""

    name: str
    about: str
    obligations: tuple[tuple[str, str], ...]
    frame: tuple[str, ...]


def _entry(path: Path, entry: Any) -> _Entry:
    name, about = (_field(path, entry, key, str) for key in ("file", "about"))
    obligations = tuple(
        (_field(path, one, "statement", str), _field(path, one, "kind", str))
        for one in _field(path, entry, "obligations", list)
    )
    frame = _field(path, entry, "frame", list)
    if not all(isinstance(statement, str) for statement in frame):
        raise CertificateError(f"{path}: frame is not of its form")
    return _Entry(name, about, obligations, tuple(frame))


def _properties(path: Path, index: Any) -> dict[str, str]:
    stated = _field(path, index, "properties", list)
    return {_field(path, one, "name", str): _field(path, one, "kind", str) for one in stated}


def _field(path: Path, value: Any, name: str, kind: type[T]) -> T:
    """What an object of JSON has under a name; CertificateError if it is no object, or has nothing of that kind there."""
    held = value.get(name) if isinstance(value, dict) else None
    if not isinstance(held, kind):
        raise CertificateError(f"{path}: {name} is missing or not of its form")
    return held


def _bytes(folder: Path, name: str) -> bytes:
    path = folder / name
    if Path(name).name != name or "\0" in name or not path.is_file():
        raise CertificateError(f"{path}: there is no such file")
    return path.read_bytes()


def _object(path: Path, text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"{path}: it is not the JSON of a certificate: {error}") from error
    if not isinstance(value, dict):
        raise CertificateError(f"{path}: it is not an object")
    return value


def _script(folder: Path, entry: _Entry) -> Script:
    """One script, taken apart; CertificateError for a line that has no place in it."""
    path, statements = folder / entry.name, tuple(statement for statement, _ in entry.obligations)
    try:
        text = _bytes(folder, entry.name).decode()
    except UnicodeDecodeError as error:
        raise CertificateError(f"{path}: it is not text in UTF-8") from error
    lines = [line for line in text.splitlines() if line and not line.startswith(";")]
    start = lines.index("(push 1)") if "(push 1)" in lines else len(lines) - 1
    supposed, asked = lines[:start], lines[start:-1]
    fits = lines[-1:] == ["(exit)"] and all(line.startswith(_SUPPOSING) and _is_one(line) for line in supposed)
    for place in range(0, len(asked), 4):
        question = asked[place : place + 4]
        fits = fits and len(question) == 4 and [question[0], *question[2:]] == ["(push 1)", "(check-sat)", "(pop 1)"]
        fits = fits and question[1].startswith("(assert (not ") and _is_one(question[1])
    if not fits or len(asked) != 4 * len(statements):
        raise CertificateError(f"{path}: it does not ask of each of its obligations ({len(statements)}), and no more")
    return Script(entry.name, entry.about, "\n".join(supposed), tuple(asked), statements)


def _is_one(line: str) -> bool:
    """Whether a line is one command: what it opens is closed at its end, and not before."""
    command = line.partition(" ;")[0].rstrip()
    depth = 0
    for match in re.finditer(r"\|[^|]*\||[()]", command):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if depth == 0:
            return match.end() == len(command)
    return False


def _vet(folder: Path, properties: Mapping[str, str], entries: Sequence[_Entry], scripts: Sequence[Script]) -> None:
    """CertificateError unless the scripts together are a proof: every lemma holds initially, each action that preserves it is
    supposed to start from all of them and nothing else, and nothing is supposed that is not asked about."""
    initial, implied, *steps = scripts
    domains = sum(kind == "domains" for _, kind in entries[0].obligations)
    lemmas = {statement for statement, kind in entries[0].obligations if kind == "lemma"}
    if len(_suppositions(implied)) != len(lemmas) + domains:
        raise CertificateError(f"{folder / implied.name}: it supposes something else than what {initial.name} asks about")
    inductive = lemmas | {name for name, kind in properties.items() if kind == "step"}
    for script, entry in zip(steps, entries[2:], strict=True):
        before, _, guard = script.supposed.rpartition("\n")
        if before != implied.supposed or not guard.startswith("(assert "):
            raise CertificateError(f"{folder / script.name}: it does not suppose the invariant and a guard, and no more")
        unasked = inductive - set(script.statements) - set(entry.frame)
        if unasked:
            raise CertificateError(f"{folder / script.name}: nothing is asked of {min(unasked)}")
    unasked = properties.keys() - inductive - set(implied.statements)
    if unasked or not lemmas or not properties:
        raise CertificateError(f"{folder / implied.name}: nothing is asked of {min(unasked, default='anything')}")


def _suppositions(script: Script) -> list[str]:
    return [line for line in script.supposed.splitlines() if line.startswith("(assert ")]


def with_base(certificate: Certificate) -> Certificate:
    """The certificate whose first script also asks of each formula that the steps suppose, as its text has it, whether it holds
    initially. One whose obligations were made again needs no such question."""
    initial, implied, *steps = certificate.scripts
    more = [line.removeprefix("(assert ").removesuffix(")") for line in _suppositions(implied)]
    questions = [line for one in more for line in ("(push 1)", f"(assert (not {one}))", "(check-sat)", "(pop 1)")]
    named = tuple(f"supposition {number} of {implied.name}" for number in range(1, len(more) + 1))
    asked = replace(initial, questions=(*initial.questions, *questions), statements=(*initial.statements, *named))
    return replace(certificate, scripts=(asked, implied, *steps))


def doubts(
    certificate: Certificate, seconds: float, progress: Callable[[int, int], None], solvers: Sequence[str] = SOLVERS
) -> Iterator[Doubt]:
    """What keeps a certificate from being accepted, after each solver has been asked everything; ``seconds`` is what a solver
    may take for one script."""
    for number, script in enumerate(certificate.scripts):
        progress(number, len(certificate.scripts))
        for solver in solvers:
            yield from _doubts(script, solver, seconds, must_be=number < 2)


def _doubts(script: Script, solver: str, seconds: float, *, must_be: bool) -> Iterator[Doubt]:
    command = [sys.executable, str(ANSWERS), solver]
    try:
        run = subprocess.run(command, input=script.text, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        yield Doubt(False, f"{script.name}: {solver} does not answer in {seconds:g} s")
        return
    answers = run.stdout.split()
    if run.returncode or len(answers) != 1 + len(script.statements):
        ended = f"ended with status {run.returncode}" if run.returncode else "answered something else"
        yield Doubt(False, f"{script.name}: {solver} {ended} after {len(answers)} of {1 + len(script.statements)} questions")
        return
    if answers[0] != "sat" and (must_be or answers[0] != "unsat"):
        yield Doubt(answers[0] == "unsat", f"{script.name}: {solver} says {answers[0]} to whether what it supposes can be")
    for statement, answer in zip(script.statements, answers[1:], strict=True):
        if answer != "unsat":
            words = f"{solver} says {answer} to whether {statement} can be false where {script.about}"
            yield Doubt(answer == "sat", f"{script.name}: {words}")
