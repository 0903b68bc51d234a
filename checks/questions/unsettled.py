"""What there was no time to check: every property of it is inconclusive, so that the report is whole."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.checks.engines.results.checked import Checked, chosen_of
from fencepost.checks.engines.results.findings import Findings
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.questions.hazards import Hazard
from fencepost.model.language import Location, Protocol
from fencepost.model.language.building import in_outline
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.theorems import Theory
from fencepost.properties.vocabulary import Property

OUT_OF_TIME = "not checked: out of time"


def unsettled(item: Entry | Theory, instance: Instance, defects: Sequence[str], properties: Sequence[str]) -> Checked:
    """The properties of an instance, or those of these names, without a search. PropertyError for one that it does not have."""
    if isinstance(item, Theory):
        theorems = item.theorems(frozenset(defects))
        chosen = [theorem.property for theorem in theorems if theorem.name in properties or not properties]
        bearer = Protocol(item.name, doc=item.summary, defects=item.defects, active=defects)
        return _inconclusive(item, instance, bearer, chosen)
    with in_outline():
        protocol = item.build(instance.parameters, defects)
        return _inconclusive(item, instance, protocol, chosen_of(item.suite(protocol), properties))


def unsettled_hazard(hazard: Hazard) -> Checked:
    """A known bug that was not looked for."""
    with in_outline():
        protocol = hazard.entry.build(hazard.instance.parameters, [hazard.name])
    doc, location = protocol.defects[hazard.name], Location.of(hazard.entry.function)
    prop = Property(hazard.name, "hazard", None, doc, location)
    verdict = Verdict(prop, "inconclusive", "exhaustive", note=OUT_OF_TIME, bug=hazard.bug)
    return Checked(hazard.entry, hazard.instance, protocol, Findings((verdict,)))


def is_unsettled(checked: Checked) -> bool:
    """Whether nothing of it was checked, for lack of time."""
    return all(verdict.note == OUT_OF_TIME for verdict in checked.findings.verdicts)


def _inconclusive(item: Entry | Theory, instance: Instance, protocol: Protocol, properties: Sequence[Property]) -> Checked:
    engine = "theorem" if isinstance(item, Theory) else instance.by or "exhaustive"
    verdicts = tuple(Verdict(prop, "inconclusive", engine, note=OUT_OF_TIME) for prop in properties)
    return Checked(item, instance, protocol, Findings(verdicts))
