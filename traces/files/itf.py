"""Traces as files in the Informal Trace Format of Apalache (its ADR-015), ``*.itf.json``, which other tools open too.

A family of variables is one ITF variable that holds a map; a choice is a string, a subset a set of labels. The action that
led to a state is in ``mbt::actionTaken`` and its parameters in ``mbt::nondetPicks``, as Quint writes them; but parameters that
an action does not have are left out, because readers in Python, itf-py among them, trip over the tag ``None``.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fencepost.model.language import ModelError, Protocol, Variable
from fencepost.model.language.mistakes import guess
from fencepost.properties.registry import Entry, RegistryError
from fencepost.traces.files.itf_values import decode, encode, key_of, picked, unkeyed
from fencepost.traces.files.writing import write_text
from fencepost.traces.printable import printable
from fencepost.traces.trace import Loop, State, Step, Trace

VERSION = 1
ACTION, PICKS = "mbt::actionTaken", "mbt::nondetPicks"
START = "init"
DESCRIPTION = "https://apalache-mc.org/docs/adr/015adr-trace.html"


class TraceFileError(Exception):
    """A trace file that cannot be read; the message names the file and what is wrong with it."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


def write(trace: Trace, protocol: Protocol, path: Path) -> None:
    """Writes a trace of that instance of its protocol; an existing file is replaced as a whole. Raises OSError."""
    write_text(path, text(trace, protocol))


def text(trace: Trace, protocol: Protocol) -> str:
    """What the file of a trace holds."""
    meta = {
        "format": "ITF",
        "format-description": DESCRIPTION,
        "fencepost-version": VERSION,
        "protocol": trace.protocol,
        "parameters": dict(trace.parameters),
        "bugs": list(trace.bugs),
        "property": trace.violated,
        "found-by": trace.found_by,
        "seed": trace.seed,
    }
    if trace.loop:
        meta |= {"starved": list(trace.loop.starved), "unobliged": list(trace.loop.unobliged)}
    names = list(_families(protocol))
    states = [_encoded(protocol, trace, position) for position in range(len(trace.steps) + 1)]
    lines = ",\n".join("  " + json.dumps(state) for state in states)
    head = f'{{\n "#meta": {json.dumps(meta)},\n "vars": {json.dumps([*names, ACTION, PICKS])},\n "states": [\n'
    tail = f' ],\n "loop": {trace.loop.start}\n}}\n' if trace.loop else " ]\n}\n"
    return f"{head}{lines}\n{tail}"


def read(path: Path, protocols: Mapping[str, Entry]) -> tuple[Trace, Protocol]:
    """The trace in a file, and the instance of its protocol, rebuilt.

    Everything is checked except the steps, which are for replay to judge. All text of the trace is printable. Raises
    TraceFileError, naming the file, if it cannot be read, is no trace, was cut short, or does not fit its protocol.
    """
    try:
        return _read(path, protocols)
    except OSError as error:
        raise TraceFileError(f"{path}: {error.strerror or error}") from error
    except (_Wrong, RegistryError, ModelError) as error:
        raise TraceFileError(f"{path}: {error}") from error


class _Wrong(Exception):
    """What is wrong with the file, without its name."""


def _read(path: Path, protocols: Mapping[str, Entry]) -> tuple[Trace, Protocol]:
    content = _shape(_json(path.read_bytes()), dict, "the file")
    meta = content.get("#meta")
    if not isinstance(meta, dict) or "fencepost-version" not in meta:
        raise _Wrong(
            "it is not a trace that Fencepost wrote: #meta has no fencepost-version; write one with check --trace-dir DIR"
        )
    if meta["fencepost-version"] != VERSION:
        message = f"#meta has fencepost-version {meta['fencepost-version']!r}, but this version reads {VERSION}"
        raise _Wrong(f"{message}; have the check write the trace again")
    name = _shape(meta.get("protocol"), str, "#meta protocol")
    parameters = _shape(meta.get("parameters"), dict, "#meta parameters")
    bugs = [_shape(d, str, "each of #meta bugs") for d in _shape(meta.get("bugs"), list, "#meta bugs")]
    if name not in protocols:
        meant = guess(name, protocols)
        raise _Wrong(f"there is no protocol {name!r}{meant}; of one of your own name the file: --protocol FILE.py")
    protocol = protocols[name].of_file(parameters, bugs)
    families = _families(protocol)
    _check_names(_shape(content.get("vars"), list, "vars"), families, "vars")
    states = _shape(content.get("states"), list, "states")
    if not states:
        raise _Wrong("it has no states")
    initial, *later = (_state(families, state, position) for position, state in enumerate(states))
    labels = [_action(protocol, state, position) for position, state in enumerate(states)][1:]
    trace = Trace(
        protocol=name,
        initial=initial,
        steps=tuple(Step(label, state) for label, state in zip(labels, later, strict=True)),
        parameters=dict(protocol.parameters),
        bugs=protocol.active,
        violated=_optional(meta, "property", str),
        found_by=_optional(meta, "found-by", str) or "",
        seed=_optional(meta, "seed", int),
        loop=_loop(content, meta, states) if content.get("loop") is not None else None,
    )
    return trace, protocol


def _loop(content: Mapping[str, Any], meta: Mapping[str, Any], states: Sequence[Any]) -> Loop:
    start = _shape(content["loop"], int, "loop")
    if not 0 <= start < len(states):
        raise _Wrong(f"loop is {start}, and there is no such state")
    return Loop(start, _labels(meta, "starved"), _labels(meta, "unobliged"))


def _labels(meta: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(_shape(label, str, f"each of #meta {name}") for label in _optional(meta, name, list) or ())


def _json(data: bytes) -> Any:
    if not data.strip():
        raise _Wrong("it is empty")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            raise _Wrong(f"an object has a name twice: {', '.join(name for name, _ in pairs)[:80]}")
        return members

    try:
        return json.loads(data, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        text = error.doc.strip()
        cut = text.startswith("{") and (error.pos >= len(text) or not text.endswith("}"))
        what = "it was cut short: JSON ends in the middle" if cut else f"it is not JSON: {error.msg}"
        raise _Wrong(f"{what} (line {error.lineno}, column {error.colno})") from error
    except UnicodeDecodeError as error:
        raise _Wrong("it is not text in UTF-8") from error
    except (RecursionError, ValueError) as error:
        raise _Wrong("it is not JSON that a trace could have: nested too deeply, or a number too long") from error


def _families(protocol: Protocol) -> dict[str, list[Variable]]:
    grouped = itertools.groupby(protocol.variables, key=lambda variable: variable.family)
    return {name: list(members) for name, members in grouped}


def _encoded(protocol: Protocol, trace: Trace, position: int) -> dict[str, Any]:
    state: dict[str, Any] = {"#meta": {"index": position}}
    values = iter(trace.states[position])
    for name, members in _families(protocol).items():
        encoded = [encode(variable.domain, next(values)) for variable in members]
        if members[0].universes:
            state[name] = {"#map": [[key_of(v), value] for v, value in zip(members, encoded, strict=True)]}
        else:
            state[name] = encoded[0]
    label = trace.steps[position - 1].action if position else None
    taken = next((action for action in protocol.actions if action.label == label), None)
    state[ACTION] = taken.name if taken else label or START
    state[PICKS] = {name: picked(argument) for name, argument in sorted(taken.arguments.items())} if taken else {}
    return state


def _state(families: Mapping[str, list[Variable]], content: Any, position: int) -> State:
    state = _shape(content, dict, f"state {position}")
    index = _shape(state.get("#meta"), dict, f"#meta of state {position}").get("index")
    if index != position:
        raise _Wrong(f"state {position} has index {index!r}; a state is missing or out of order")
    _check_names([name for name in state if name != "#meta"], families, f"state {position}")
    raw: list[int] = []
    for name, members in families.items():
        where = f"state {position}, {name}"
        try:
            values = unkeyed(members, state[name]) if members[0].universes else [state[name]]
            raw += [decode(variable.domain, value) for variable, value in zip(members, values, strict=True)]
        except ValueError as error:
            raise _Wrong(f"{where}: {error}") from error
    return tuple(raw)


def _action(protocol: Protocol, state: Mapping[str, Any], position: int) -> str:
    name = _shape(state[ACTION], str, f"{ACTION} of state {position}")
    picks = _shape(state[PICKS], dict, f"{PICKS} of state {position}")
    arguments: dict[str, str] = {}
    for parameter, pick in picks.items():
        chosen = _shape(pick, dict, f"{PICKS} of state {position}, {parameter}")
        if chosen.get("tag") == "Some":
            arguments[parameter] = _shape(chosen.get("value"), str, f"{PICKS} of state {position}, {parameter}, its value")
        elif chosen.get("tag") != "None":
            raise _Wrong(f"{PICKS} of state {position}: {parameter} is neither Some nor None")
    for action in protocol.actions:
        if action.name == name and dict(action.arguments) == arguments:
            return action.label
    return f"{name}({', '.join(arguments.values())})" if arguments else name


def _check_names(names: Sequence[Any], families: Mapping[str, Any], where: str) -> None:
    known = [*families, ACTION, PICKS]
    strangers = [name for name in names if name not in known]
    if strangers:
        raise _Wrong(f"{where}: unknown variable {strangers[0]!r}")
    missing = [name for name in known if name not in names]
    if missing:
        raise _Wrong(f"{where}: {missing[0]} is missing")


def _shape(value: Any, kind: type, what: str) -> Any:
    words = {dict: "an object", list: "a list", str: "a string", int: "a whole number"}
    if type(value) is not kind:
        raise _Wrong(f"{what} is missing" if value is None else f"{what} is not {words[kind]}")
    return printable(value) if isinstance(value, str) else value


def _optional(meta: Mapping[str, Any], name: str, kind: type) -> Any:
    value = meta.get(name)
    return None if value is None else _shape(value, kind, f"#meta {name}")
