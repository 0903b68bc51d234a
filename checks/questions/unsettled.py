"""Results that no engine gives: what there was no time to check, and controls that fail because of what the user set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fencepost.checks.engines.results.findings import Checked, Findings, chosen_of
from fencepost.checks.engines.results.verdicts import Verdict
from fencepost.checks.questions.bugs.searching import KnownBug
from fencepost.model.language import Location, ModelError, Protocol
from fencepost.model.language.circumstances import in_outline
from fencepost.properties.registry import Entry, Instance, Value, written
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
    return Checked.of(bug.entry, bug.instance, protocol, Findings((verdict,)))


def is_unsettled(checked: Checked) -> bool:
    """Whether nothing of it was checked, for lack of time."""
    return all(verdict.note == OUT_OF_TIME for verdict in checked.verdicts)


def _inconclusive(item: Entry | Theory, instance: Instance, protocol: Protocol, properties: Sequence[Property]) -> Checked:
    engine = "theorem" if isinstance(item, Theory) else instance.by or "exhaustive"
    verdicts = tuple(Verdict(prop, "inconclusive", engine, note=OUT_OF_TIME) for prop in properties)
    return Checked.of(item, instance, protocol, Findings(verdicts))


def held_to_account(checked: Checked, changes: Mapping[str, Value]) -> Checked:
    """An instance whose controls are properties like any other where what the user set makes them controls.

    Budgets of faults are no settings: what a kill costs is for the control to show.
    """
    settings = {name: value for name, value in changes.items() if name not in checked.protocol.budgets}
    if not isinstance(checked.entry, Entry) or checked.instance.any or not settings:
        return checked
    verdicts = []
    for verdict in checked.verdicts:
        prop = verdict.property
        blamed = _blamed(checked.entry, checked.instance.parameters, settings, prop.name) if verdict.expected else []
        if blamed:
            note = f"not guaranteed with {' '.join(f'{name}={written(settings[name])}' for name in blamed)}: {prop.strict}"
            verdict = replace(verdict, property=replace(prop, strict=""), note=note)
        verdicts.append(verdict)
    return replace(checked, verdicts=tuple(verdicts))


def _blamed(entry: Entry, parameters: Mapping[str, Value], settings: Mapping[str, Value], prop: str) -> list[str]:
    """The settings by which a property is a control: each that suffices alone, or all; none if it is one without them."""
    rest = {name: value for name, value in parameters.items() if name not in settings}
    if _is_control(entry, rest, prop) is not False:
        return []
    alone = [name for name, value in settings.items() if _is_control(entry, {**rest, name: value}, prop)]
    return alone or list(settings)


def _is_control(entry: Entry, parameters: Mapping[str, Value], prop: str) -> bool | None:
    """Whether a property is a control in an instance; None if there is no such property, or no such instance."""
    try:
        suite = entry.outline(parameters)
    except ModelError:
        return None
    return next((bool(known.strict) for known in suite.properties if known.name == prop), None)
