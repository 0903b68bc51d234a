"""Controls that fail because of what the user set: no success, but what is not guaranteed with that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fencepost.checks.engines.results.checked import Checked
from fencepost.model.language import ModelError
from fencepost.properties.registry import Entry, Value, written


def held_to_account(checked: Checked, changes: Mapping[str, Value]) -> Checked:
    """An instance whose controls are properties like any other where what the user set makes them controls.

    Budgets of faults are no settings: what a kill costs is for the control to show.
    """
    settings = {name: value for name, value in changes.items() if name not in checked.protocol.budgets}
    if not isinstance(checked.entry, Entry) or checked.instance.any or not settings:
        return checked
    verdicts = []
    for verdict in checked.findings.verdicts:
        prop = verdict.property
        blamed = _blamed(checked.entry, checked.instance.parameters, settings, prop.name) if verdict.expected else []
        if blamed:
            note = f"not guaranteed with {' '.join(f'{name}={written(settings[name])}' for name in blamed)}: {prop.strict}"
            verdict = replace(verdict, property=replace(prop, strict=""), note=note)
        verdicts.append(verdict)
    return replace(checked, findings=replace(checked.findings, verdicts=tuple(verdicts)))


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
