"""What there was no time to check: every property of it is inconclusive, so that the report is whole."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.checks.engines.results.checked import Checked, chosen_of
from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.questions.bug_search import KnownBug
from fencepost.model.language import Location, Protocol
from fencepost.model.language.building import in_outline
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.theorems import Theory
from fencepost.properties.vocabulary import Property

OUT_OF_TIME = "not checked: out of time"


def unsettled(item: Entry | Theory, instance: Instance, bugs: Sequence[str], properties: Sequence[str]) -> Checked:
    """The properties of an instance, or those of these names, without a search. PropertyError for one that it does not have."""
    if isinstance(item, Theory):
        theorems = item.theorems(frozenset(bugs))
        chosen = [theorem.property for theorem in theorems if theorem.name in properties or not properties]
        bearer = Protocol(item.name, doc=item.summary, bugs=item.bugs, active=bugs)
        return _inconclusive(item, instance, bearer, chosen)
    with in_outline():
        protocol = item.build(instance.parameters, bugs)
        return _inconclusive(item, instance, protocol, chosen_of(item.suite(protocol), properties))


def unsettled_bug(bug: KnownBug) -> Checked:
    """A known bug that was not looked for."""
    with in_outline():
        protocol = bug.entry.build(bug.instance.parameters, [bug.name])
    doc, location = protocol.bugs[bug.name], Location.of(bug.entry.function)
    prop = Property(bug.name, "known bug", None, doc, location)  # type: ignore[arg-type]  # it has no formula
    verdict = Verdict(prop, "inconclusive", "exhaustive", note=OUT_OF_TIME, bug=bug.bug)
    return Checked(bug.entry, bug.instance, protocol, Findings((verdict,)))


def is_unsettled(checked: Checked) -> bool:
    """Whether nothing of it was checked, for lack of time."""
    return all(verdict.note == OUT_OF_TIME for verdict in checked.findings.verdicts)


def _inconclusive(item: Entry | Theory, instance: Instance, protocol: Protocol, properties: Sequence[Property]) -> Checked:
    engine = "theorem" if isinstance(item, Theory) else instance.by or "exhaustive"
    verdicts = tuple(Verdict(prop, "inconclusive", engine, note=OUT_OF_TIME) for prop in properties)
    return Checked(item, instance, protocol, Findings(verdicts))
