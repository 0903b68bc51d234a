"""Checking a certificate. Nothing here, nor what it runs, is used by what makes certificates; the form of the files is all that
both know.

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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    text = _read(folder, "certificate.json")
    manifest, index = _object(text, "certificate.json"), _object(_read(folder, "index.json"), "index.json")
    if manifest.get("format") != 1 or not isinstance(manifest.get("files"), dict):
        raise CertificateError(f"{folder / 'certificate.json'}: it is no certificate of format 1")
    files: dict[str, str] = manifest["files"]
    there = {path.name for path in folder.iterdir()} - {"certificate.json"}
    for name in sorted(there - files.keys()):
        raise CertificateError(f"{folder / name}: the certificate does not name it")
    for name, digest in files.items():
        if hashlib.sha256(_read(folder, name)).hexdigest() != digest:
            raise CertificateError(f"{folder / name}: it was changed since it was certified")
    entries = index.get("scripts", [])
    if {"index.json", *(entry["file"] for entry in entries)} != files.keys() or len(entries) < 3:
        raise CertificateError(f"{folder / 'index.json'}: its scripts are not those of the certificate")
    scripts = tuple(_script(folder, entry) for entry in entries)
    _vet(folder, index, entries, scripts)
    return Certificate(hashlib.sha256(text).hexdigest(), manifest, scripts)


def _read(folder: Path, name: str) -> bytes:
    path = folder / name
    if Path(name).name != name or not path.is_file():
        raise CertificateError(f"{path}: there is no such file")
    return path.read_bytes()


def _object(text: bytes, name: str) -> dict[str, Any]:
    try:
        made = json.loads(text)
    except ValueError as error:
        raise CertificateError(f"{name}: it is no JSON: {error}") from error
    if not isinstance(made, dict):
        raise CertificateError(f"{name}: it is no object")
    return made


def _script(folder: Path, entry: dict[str, Any]) -> Script:
    """One script, taken apart; CertificateError for a line that has no place in it."""
    name, statements = entry["file"], tuple(obligation["statement"] for obligation in entry["obligations"])
    kept = [line for line in _read(folder, name).decode().splitlines() if line and not line.startswith(";")]
    start = kept.index("(push 1)") if "(push 1)" in kept else len(kept) - 1
    supposed, asked = kept[:start], kept[start:-1]
    fits = kept[-1:] == ["(exit)"] and all(line.startswith(_SUPPOSING) and _is_one(line) for line in supposed)
    for place in range(0, len(asked), 4):
        push, negation, *rest = asked[place : place + 4]
        fits = fits and push == "(push 1)" and negation.startswith("(assert (not ") and _is_one(negation)
        fits = fits and rest == ["(check-sat)", "(pop 1)"]
    if not fits or len(asked) != 4 * len(statements):
        raise CertificateError(f"{folder / name}: it does not ask of each of its {len(statements)} obligations, and no more")
    return Script(name, entry["about"], "\n".join(supposed), tuple(asked), statements)


def _is_one(line: str) -> bool:
    """Whether a line is one command: what it opens is closed at its end, and not before."""
    command = line.partition(" ;")[0].rstrip()
    depth = 0
    for found in re.finditer(r"\|[^|]*\||[()]", command):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth == 0:
            return found.end() == len(command)
    return False


def _vet(folder: Path, index: dict[str, Any], entries: Sequence[dict[str, Any]], scripts: Sequence[Script]) -> None:
    """CertificateError unless the scripts together are a proof: every lemma holds initially, and each action that keeps it is
    supposed to start from all of them and nothing else."""
    implied, steps = scripts[1], scripts[2:]
    lemmas = {o["statement"] for o in entries[0]["obligations"] if o["kind"] == "lemma"}
    properties = {p["name"]: p["kind"] for p in index.get("properties", [])}
    kept = lemmas | {name for name, kind in properties.items() if kind == "step"}
    for script, entry in zip(steps, entries[2:], strict=True):
        before, _, guard = script.supposed.rpartition("\n")
        if before != implied.supposed or not guard.startswith("(assert "):
            raise CertificateError(f"{folder / script.name}: it does not suppose the invariant and a guard, and no more")
        unasked = kept - set(script.statements) - set(entry["frame"])
        if unasked:
            raise CertificateError(f"{folder / script.name}: nothing is asked of {min(unasked)}")
    unasked = properties.keys() - kept - set(implied.statements)
    if unasked or not lemmas or not properties or not steps:
        raise CertificateError(f"{folder / implied.name}: nothing is asked of {min(unasked, default='anything')}")


def doubts(
    certificate: Certificate, seconds: float, telling: Callable[[int, int], None], solvers: Sequence[str] = SOLVERS
) -> Iterator[Doubt]:
    """What keeps a certificate from being accepted, after each solver has been asked everything; ``seconds`` is what a solver
    may take for one script."""
    for number, script in enumerate(certificate.scripts):
        telling(number, len(certificate.scripts))
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
            told = f"{solver} says {answer} to whether {statement} can be false where {script.about}"
            yield Doubt(answer == "sat", f"{script.name}: {told}")
