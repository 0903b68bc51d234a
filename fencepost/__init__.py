"""Fencepost as one package: the four floors are links to the folders at the top of the repository.

The folders stay where a reader looks for them; whoever installs Fencepost gets the one name ``fencepost``.

The names here are its public face: what docs/reference/python.md documents and, beside the command line, all that anybody may
build on. Each is loaded when it is first asked for, because the solvers and the compiler behind them take a second to load.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fencepost.checks.engines.induction.proof import Failure, Proof, prove
    from fencepost.checks.engines.results.findings import Checked, Findings, PropertyError
    from fencepost.checks.engines.results.verdicts import Verdict
    from fencepost.checks.public_calls import check, explore, replay
    from fencepost.model.analysis.obligations import prove_domains
    from fencepost.model.analysis.symmetry import symmetry_of
    from fencepost.model.balance.configuration import Configuration
    from fencepost.model.balance.load_data import LoadData
    from fencepost.model.balance.usage import weighted_usage
    from fencepost.model.language import (
        Action,
        And,
        Choice,
        Condition,
        Family,
        If,
        Implies,
        Location,
        ModelError,
        Not,
        Number,
        OneOf,
        Or,
        Outcome,
        Protocol,
        Subset,
        Truth,
        Universe,
        Updates,
        Variable,
        Variables,
        all_of,
        any_of,
        at,
        at_least,
        either,
        how_many,
        maximum,
        minimum,
        same,
        select,
    )
    from fencepost.model.zookeeper.sessions_and_nodes import EphemeralNode, Sessions, merged
    from fencepost.properties.bug_files import bugs_in
    from fencepost.properties.bugs import Bug
    from fencepost.properties.machines import Run, Violation, run_of
    from fencepost.properties.protocols import PROTOCOLS
    from fencepost.properties.registry import Entry, Instance, RegistryError
    from fencepost.properties.vocabulary import Leads, Property, Suite
    from fencepost.traces.files.itf import TraceFileError
    from fencepost.traces.files.itf import read as read_trace
    from fencepost.traces.files.itf import write as write_trace
    from fencepost.traces.machines import machine_of
    from fencepost.traces.replay import Replay
    from fencepost.traces.trace import Loop, Step, Trace
    from fencepost.traces.wording.text import show

__all__ = [
    "PROTOCOLS",
    "Action",
    "And",
    "Bug",
    "Checked",
    "Choice",
    "Condition",
    "Configuration",
    "Entry",
    "EphemeralNode",
    "Failure",
    "Family",
    "Findings",
    "If",
    "Implies",
    "Instance",
    "Leads",
    "LoadData",
    "Location",
    "Loop",
    "ModelError",
    "Not",
    "Number",
    "OneOf",
    "Or",
    "Outcome",
    "Proof",
    "Property",
    "PropertyError",
    "Protocol",
    "RegistryError",
    "Replay",
    "Run",
    "Sessions",
    "Step",
    "Subset",
    "Suite",
    "Trace",
    "TraceFileError",
    "Truth",
    "Universe",
    "Updates",
    "Variable",
    "Variables",
    "Verdict",
    "Violation",
    "all_of",
    "any_of",
    "at",
    "at_least",
    "bugs_in",
    "check",
    "either",
    "explore",
    "how_many",
    "machine_of",
    "maximum",
    "merged",
    "minimum",
    "prove",
    "prove_domains",
    "read_trace",
    "replay",
    "run_of",
    "same",
    "select",
    "show",
    "symmetry_of",
    "weighted_usage",
    "write_trace",
]

_HOMES = {
    "checks.public_calls": "check explore replay",
    "checks.engines.results.findings": "Checked Findings PropertyError",
    "checks.engines.induction.proof": "Failure Proof prove",
    "checks.engines.results.verdicts": "Verdict",
    "model.balance.configuration": "Configuration",
    "model.balance.load_data": "LoadData",
    "model.balance.usage": "weighted_usage",
    "model.language": (
        "Action And Choice Condition Family If Implies Location ModelError Not Number OneOf Or Outcome Protocol Subset Truth "
        "Universe Updates Variable Variables all_of any_of at at_least either how_many maximum minimum same select"
    ),
    "model.analysis.obligations": "prove_domains",
    "model.analysis.symmetry": "symmetry_of",
    "model.zookeeper.sessions_and_nodes": "EphemeralNode Sessions merged",
    "properties.machines": "Run Violation run_of",
    "properties.bug_files": "bugs_in",
    "properties.bugs": "Bug",
    "properties.protocols": "PROTOCOLS",
    "properties.registry": "Entry Instance RegistryError",
    "properties.vocabulary": "Leads Property Suite",
    "traces.files.itf": "TraceFileError read_trace write_trace",
    "traces.machines": "machine_of",
    "traces.replay": "Replay",
    "traces.trace": "Loop Step Trace",
    "traces.wording.text": "show",
}
"""The modules, below the package, and which names come from each."""

_THERE = {"read_trace": "read", "write_trace": "write"}
"""The names that are called otherwise where they come from."""

_MODULES = {name: module for module, names in _HOMES.items() for name in names.split()}


if not TYPE_CHECKING:  # for a type checker it would make a name of everything

    def __getattr__(name: str) -> Any:
        """Loads a public name; it is then here like any other."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), _THERE.get(name, name))
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
