"""Baselines: the verdicts that somebody has accepted, each with a reason, so that a check fails only for what is new or gone.

What can be accepted are known bugs, and doubts: suspicions about a run that succeeded. A violation that nobody expects, and
what is inconclusive, fails whatever a baseline says. What is accepted of one release is accepted of every other, so that an
upgrade shows what it brings.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path

from fencepost.checks.engines.results.findings import Checked
from fencepost.checks.inputs.input_files import MOST_BY_HAND, InputError, Place, read_text
from fencepost.checks.teeth.pinned import idle_properties
from fencepost.model.counts import count_of
from fencepost.properties.suspicions import Suspicion
from fencepost.properties.vocabulary import Property
from fencepost.traces.files.writing import write_text

FORMAT = 2


class BaselineError(InputError):
    """A file that is no baseline; the message names the file and the remedy."""


@dataclass(frozen=True, order=True)
class Key:
    """What is accepted: a verdict on a property, a bug or what is suspicious, of an instance, in releases (empty: none)."""

    protocol: str
    instance: str
    property: str
    verdict: str
    release: str

    def __str__(self) -> str:
        place = f"{self.protocol}, {self.instance}" if self.instance else self.protocol
        return f"{place}: {self.property} ({self.verdict})"

    @builtins.property
    def subject(self) -> tuple[str, ...]:
        """What it is about whatever the release: the instance of a known bug names its release."""
        instance = "" if self.verdict == "known bug" else self.instance
        return self.protocol, instance, self.property, self.verdict


@dataclass(frozen=True)
class Comparison:
    """How a run differs from a baseline: what is new, what is gone, what is accepted without a reason, how much of the
    baseline is of what this run did not check, and how much that was found is ``carried`` over: accepted of another release."""

    new: tuple[Key, ...]
    gone: tuple[Key, ...]
    unexplained: tuple[Key, ...]
    unchecked: int
    carried: int = 0

    @property
    def differs(self) -> bool:
        """Whether the run fails for it."""
        return bool(self.new or self.gone)


@dataclass(frozen=True)
class Baseline:
    """What is accepted, with the reason for each: findings, and besides them known ``bugs`` by their names, wherever they are.
    Only ``of_file`` can something be new or gone."""

    reasons: Mapping[Key, str]
    bugs: Mapping[str, str] = field(default_factory=dict)
    of_file: bool = True

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """The baseline in a file. OSError if it cannot be read, BaselineError if it is none."""
        try:
            rows = json.loads(read_text(path, "a baseline", MOST_BY_HAND))
            if rows["format"] != FORMAT:
                message = f"format {rows['format']} is not {FORMAT}; write it again with --write-baseline"
                raise BaselineError(f"{path}: {message}", Place(path))
            return cls({_key(row): str(row["reason"]) for row in rows["accepted"]})
        except json.JSONDecodeError as error:
            place = Place(path, error.lineno)
            raise BaselineError(f"{place}: not JSON: {error.msg}; fix the line", place) from None
        except (KeyError, TypeError, UnicodeDecodeError):
            raise BaselineError(f"{path}: is not a baseline; write one with --write-baseline", Place(path)) from None

    def reason(self, key: Key) -> str | None:
        """Why something is accepted, in its release or else in another one; None if it is not."""
        own = self.reasons.get(key, self._of_any_release.get(key.subject))
        return self.bugs.get(key.property) if own is None and key.verdict == "known bug" else own

    @property
    def known_bugs(self) -> dict[str, str]:
        """The known bugs that are accepted, whatever the release, by name, each with the reason."""
        return {key.property: reason for key, reason in self.reasons.items() if key.verdict == "known bug"} | dict(self.bugs)

    @cached_property
    def _of_any_release(self) -> Mapping[tuple[str, ...], str]:
        return {key.subject: self.reasons[key] for key in sorted(self.reasons, reverse=True)}

    def applied(self, checked: Checked, release: str) -> Checked:
        """An instance with its bugs marked that are accepted."""
        verdicts = tuple(
            replace(verdict, accepted=self.reason(key) if verdict.verdict == "known bug" else None)
            for verdict, key in zip(checked.verdicts, _keys(checked, release), strict=True)
        )
        return replace(checked, verdicts=verdicts)

    def judged(self, doubts: Iterable[Doubt], release: str) -> list[Doubt]:
        """Suspicions, of which those that are not accepted keep the run from succeeding."""
        reasons = [(doubt, self.reason(_suspicion(doubt, release))) for doubt in doubts]
        return [replace(doubt, strict=reason is None, accepted=reason) for doubt, reason in reasons]

    def compared(self, everything: Sequence[Checked], doubts: Iterable[Doubt], release: str, *, whole: bool) -> Comparison:
        """How a run differs. Only what it checked can be gone: a bug of a protocol, if the run was ``whole``, neither cut
        short nor of some properties; of other verdicts those of its instances; and nothing that is inconclusive now."""
        now = keys_of(everything, doubts, release)
        left_open = {key for checked in everything for key in _keys(checked, release) if key.verdict == "inconclusive"}
        names = {replace(key, verdict="") for key in left_open}
        places = {(c.entry.name, c.instance.name) for c in everything} | {(c.entry.name, "") for c in everything}
        protocols = {c.entry.name for c in everything}
        subjects = {key.subject for key in now}
        missing = [key for key in sorted(self.reasons) if key.subject not in subjects]
        gone = tuple(
            key
            for key in missing
            if whole
            and key.release == release
            and (key.protocol in protocols if key.verdict == "known bug" else (key.protocol, key.instance) in places)
            and replace(key, verdict="") not in names
        )
        return Comparison(
            new=tuple(key for key in sorted(now) if self.reason(key) is None),
            gone=gone,
            unexplained=tuple(key for key in sorted(now) if self.reason(key) == ""),
            unchecked=len(missing) - len(gone),
            carried=sum(key not in self.reasons and self.reason(key) is not None for key in now),
        )

    def updated(self, now: Iterable[Key], gone: Iterable[Key]) -> Baseline:
        """What was accepted and is not gone, with the reasons that there were, and what a run found that no release accepts."""
        known = {key: "" for key in now if self.reason(key) is None} | dict(self.reasons)
        return replace(self, reasons={key: known[key] for key in known.keys() - set(gone)})

    def write(self, path: Path) -> None:
        """Writes the baseline, a line for each verdict, sorted. OSError if it cannot be written."""
        rows = [json.dumps(asdict(key) | {"reason": self.reasons[key]}, ensure_ascii=False) for key in sorted(self.reasons)]
        accepted = "".join(f"\n    {row}," for row in rows).removesuffix(",")
        write_text(path, f'{{\n  "format": {FORMAT},\n  "accepted": [{accepted}\n  ]\n}}\n')


def keys_of(everything: Iterable[Checked], doubts: Iterable[Doubt], release: str) -> set[Key]:
    """What of a run a baseline can accept."""
    verdicts = {key for checked in everything for key in _keys(checked, release) if key.verdict == "known bug"}
    return verdicts | {_suspicion(doubt, release) for doubt in doubts}


def _keys(checked: Checked, release: str) -> Iterator[Key]:
    """The key of each verdict, in order."""
    for verdict in checked.verdicts:
        yield Key(checked.entry.name, checked.instance.name, verdict.property.name, verdict.verdict, release)


def _suspicion(doubt: Doubt, release: str) -> Key:
    return Key(doubt.protocol, doubt.instance, doubt.suspicion.subject, doubt.suspicion.kind, release)


def _key(row: Mapping[str, object]) -> Key:
    return Key(*(str(row[part.name]) for part in fields(Key)))


FEW = 12
"""Lines without a reason that are named; of more there is the number, so that they do not hide what is new."""


def comparison_lines(comparison: Comparison) -> list[str]:
    """The comparison in words, a line for each difference."""
    lines = [f"baseline: new: {key}" for key in comparison.new]
    lines += [f"baseline: gone: {key}" for key in comparison.gone]
    unexplained = comparison.unexplained
    if len(unexplained) > FEW:
        lines.append(f"baseline: {count_of(len(unexplained), 'finding')} without a reason: write who accepts each, and why")
    else:
        lines += [f"baseline: without a reason: {key}" for key in unexplained]
    if comparison.carried:
        lines.append(f"baseline: {count_of(comparison.carried, 'finding')} accepted of another release, and so of this one")
    if comparison.unchecked:
        lines.append(f"baseline: {comparison.unchecked} of its verdicts were not checked here")
    return lines


def comparison_as_json(comparison: Comparison) -> dict[str, object]:
    """The comparison for programs."""
    return {
        "new": [asdict(key) for key in comparison.new],
        "gone": [asdict(key) for key in comparison.gone],
        "unexplained": [asdict(key) for key in comparison.unexplained],
        "unchecked": comparison.unchecked,
        "carried": comparison.carried,
    }


@dataclass(frozen=True)
class Doubt:
    """A suspicion about a protocol: in one of the instances of a run, or (``instance`` is empty) in none of them otherwise.

    ``strict`` says that it keeps the run from succeeding, ``accepted`` the reason with which a baseline accepts it.
    """

    protocol: str
    instance: str
    suspicion: Suspicion
    strict: bool
    accepted: str | None = None

    @property
    def place(self) -> str:
        """Of what it is said."""
        return f"{self.protocol}, {self.instance}" if self.instance else self.protocol

    def __str__(self) -> str:
        return f"{self.place}: {self.suspicion}"


def doubts(everything: Sequence[Checked], *, strict: bool) -> list[Doubt]:
    """All suspicions of a run: those of the instances in their order, then those of each protocol as a whole."""
    all_doubts = [Doubt(c.entry.name, c.instance.name, s, strict) for c in everything for s in c.suspicions]
    for name in dict.fromkeys(c.entry.name for c in everything):
        mine = [c for c in everything if c.entry.name == name]
        all_doubts += [Doubt(name, "", suspicion, strict) for suspicion in (*_never_needed(mine), *_never_broken(name, mine))]
    return all_doubts


def _never_needed(instances: Sequence[Checked]) -> Iterator[Suspicion]:
    """Lemmas that no proof of the run needs."""
    proofs = [c.unneeded for c in instances if c.unneeded is not None]
    names = [{lemma.name for lemma in unneeded} for unneeded in proofs]
    for lemma in proofs[0] if proofs else ():
        if all(lemma.name in theirs for theirs in names):
            yield Suspicion("never-needed", lemma.name, f"no proof needs the lemma {lemma.name}", lemma.location)


def _never_broken(name: str, instances: Sequence[Checked]) -> Iterator[Suspicion]:
    """Properties of the run that no mutant of the protocol violates, as it was pinned."""
    idle = idle_properties(name)
    properties: dict[str, Property] = {v.property.name: v.property for c in instances for v in c.verdicts}
    for prop in (prop for prop in properties.values() if prop.name in idle):
        yield Suspicion("never-broken", prop.name, f"no mutant violates {prop.name}", prop.location)
