"""What TLC is asked of a module: its configuration files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fencepost.checks.export.tla.module import Module
from fencepost.model.terms.simplification import truth_of
from fencepost.properties.vocabulary import Property, Suite


def configurations(suite: Suite, module: Module) -> Mapping[str, str]:
    """The configuration files of a module, by name.

    The one called as the module is has all invariants and what every step must respect; ``..._liveness`` has what must come
    about. Of what is expected to be violated, a negative control or a situation that must be possible, each has a file of its
    own, because TLC ends with the first violation.
    """
    ends = [p for p in suite.properties if p.kind == "deadlock"]
    strict_end = any(truth_of(p.formula) is False for p in ends)
    firm = [p for p in suite.properties if not p.strict]
    invariants = ["TypeOK", *(module.names[p.name] for p in firm if p.kind in ("always", "deadlock"))]
    files = {module.name: _configuration(invariants, _named(module, firm, "step"), deadlock=strict_end)}
    leads = _named(module, firm, "leads_to")
    if leads:
        files[f"{module.name}_liveness"] = _configuration([], leads)
    for p in suite.properties:
        if p.kind == "sometimes" or p.strict:
            called = [module.names[p.name]]
            temporal = p.kind in ("step", "leads_to")
            files[f"{module.name}_{p.name}"] = _configuration([] if temporal else called, called if temporal else [])
    return {f"{name}.cfg": text for name, text in files.items()}


def _named(module: Module, properties: Iterable[Property], kind: str) -> list[str]:
    return [module.names[p.name] for p in properties if p.kind == kind]


def _configuration(invariants: Iterable[str], properties: Iterable[str], *, deadlock: bool = False) -> str:
    lines = ["SPECIFICATION Spec", f"CHECK_DEADLOCK {str(deadlock).upper()}"]
    lines += [f"INVARIANT {name}" for name in invariants] + [f"PROPERTY {name}" for name in properties]
    return "\n".join(lines) + "\n"
