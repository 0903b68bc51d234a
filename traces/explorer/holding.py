"""The model that a page holds: an instance of a protocol as its machine in WebAssembly, and all that the page says of it.

The page has no rule of the protocol but these: what is enabled, where an action leads and what holds is for the machine, whose
text is the one that the checks ran as machine code.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import cached_property

from fencepost.model.kernel import Kernel
from fencepost.model.language import Variable
from fencepost.model.language.domains import Choice, Domain, Flag, Number, Subset
from fencepost.properties.registry import written
from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.drawings.lanes import Message, every_message, everyone, owners, stored
from fencepost.traces.explorer.watched import Observer, Watched
from fencepost.traces.files.itf_values import key_of


class Held:
    """An instance and its properties as a page holds them.

    ``machine`` takes the steps, and observes each property that speaks of a state or of a step as a whole; ``observer``
    observes all formulas that the page may have to give reasons of; ``content`` is the JSON with both.
    """

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._of_states = [p for p in suite.properties if p.kind not in ("step", "leads_to")]
        self._of_steps = [p for p in suite.properties if p.kind == "step"]
        self.machine = Kernel(suite.protocol, [p.formula for p in self._of_states], [p.judged for p in self._of_steps])
        self._watched = Observer(suite.protocol)
        lane = {name: number for number, name in enumerate(everyone(suite.protocol))}
        self._lanes = list(lane)
        place = {variable: number for number, variable in enumerate(suite.protocol.variables)}
        self._actions = [_action(message, lane, place, self._watched.states) for message in every_message(suite.protocol)]
        self._properties = [_property(prop, self._watched) for prop in suite.properties]
        shared = stored(suite.protocol)
        self._variables = [
            _variable(v, self.machine) | {"of": [lane[name] for name in owners(v, shared) if name in lane]}
            for v in suite.protocol.variables
        ]
        self.observer = self._watched.kernel

    @cached_property
    def content(self) -> dict[str, object]:
        protocol, watched = self._suite.protocol, self._watched
        of_states, of_steps = ([p.name for p in some] for some in (self._of_states, self._of_steps))
        return {
            "protocol": protocol.name,
            "parameters": dict(protocol.parameters),
            "shown": [[name, written(value)] for name, value in protocol.parameters.items()],
            "bugs": list(protocol.active),
            "lanes": self._lanes,
            "variables": self._variables,
            "actions": self._actions,
            "properties": self._properties,
            "budgets": [[name, limit] for name, limit in protocol.budgets.items()],
            "machine": _module(self.machine) | {"states": of_states, "steps": of_steps},
            "observer": _module(self.observer) | {"states": _formulas(watched.states), "steps": _formulas(watched.steps)},
        }


def _module(kernel: Kernel) -> dict[str, object]:
    return {"words": kernel.words, "masks": kernel.mask_words, "code": base64.b64encode(kernel.webassembly).decode()}


def _formulas(watched: Watched) -> dict[str, object]:
    return {"words": watched.words, "parts": watched.parts}


def _variable(variable: Variable, kernel: Kernel) -> dict[str, object]:
    field = kernel.packing.fields[variable.name]
    return {
        "name": variable.name,
        "family": variable.family,
        "key": key_of(variable) if variable.universes else None,
        "field": [field.word, field.shift, field.bits, str(field.low)],  # a number of JavaScript may be too short for the last
        "initial": [str(raw) for raw in variable.initial],
        **_domain(variable.domain),
    }


def _domain(domain: Domain) -> dict[str, object]:
    match domain:
        case Flag():
            return {"kind": "flag"}
        case Number():
            return {"kind": "number"}
        case Choice(names):
            return {"kind": "choice", "values": names}
        case Subset(universe):
            return {"kind": "subset", "values": [universe.label(member) for member in universe]}
    raise AssertionError(domain)


def _action(message: Message, lane: Mapping[str, int], place: Mapping[Variable, int], watched: Watched) -> dict[str, object]:
    action = message.action
    return {
        "label": action.label,
        "name": action.name,
        "arguments": dict(sorted(action.arguments.items())),
        "actor": action.actor,
        "by": lane[message.actor],
        "arrows": [[lane[one.sender], lane[one.receiver], one.under_way] for one in message.arrows],
        "posts": [[lane[who], place[held], action.posted(held)] for who, held in action.posts.items()],
        "hears": action.hears,
        "fault": action.fault,
        "doc": action.meaning,
        "place": str(action.location),
        "mirrors": action.in_the_code,
        "guard": watched.conjuncts(action.guard),
    }


def named(prop: Property) -> dict[str, object]:
    """What a page says of a property whatever it is judged on."""
    return {"name": prop.name, "kind": prop.kind, "doc": prop.doc, "place": str(prop.location), "expected": prop.strict}


def _property(prop: Property, observer: Observer) -> dict[str, object]:
    return {**named(prop), "parts": (observer.steps if prop.kind == "step" else observer.states).of(prop)}
