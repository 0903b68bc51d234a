"""The model that a page holds: an instance of a protocol as its machine in WebAssembly, and all that the page says of it.

The page has no rule of the protocol but these: what is enabled, where an action leads and what holds is for the machine, whose
text is the one that the checks ran as machine code.

A formula that a page watches is told as a tree of the connectives that decide it, each part of it numbered: the page asks its
machine which parts hold and follows those that decide, as ``wording.reasons`` does, but judges nothing itself.
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Mapping
from functools import cached_property

from fencepost.model.analysis.branches import conjuncts
from fencepost.model.kernel import Kernel
from fencepost.model.language import Protocol, Variable
from fencepost.model.language.domains import Choice, Domain, Flag, Number, Subset
from fencepost.model.terms.nodes import Term, constants_of
from fencepost.model.terms.values import Condition, conditions_of
from fencepost.properties.registry import written
from fencepost.properties.vocabulary import Property, Suite
from fencepost.traces.drawings.lanes import Message, every_message, everyone, owners, stored
from fencepost.traces.files.itf_values import key_of
from fencepost.traces.wording.reasons import shortened
from fencepost.traces.wording.wording import Wording

CONNECTIVES = {"not": "not", "and": "and", "or": "or", "=>": "implies", "ite": "if"}


class Watched:
    """Formulas over states, or over steps, of one protocol, and all their parts, each once.

    ``parts`` has for each a connective and the numbers of what it joins, or ``""`` and what it mentions: a variable's place,
    and for its value after the step that place as ``-1 - place``.
    """

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._places = {v.name: place for place, v in enumerate(protocol.variables)}
        self._numbers: dict[Term, int] = {}
        self._words: dict[str, int] = {}
        self._in_words = Wording(protocol)
        self.formulas: list[Condition] = []
        self.parts: list[list[str | int]] = []

    @property
    def words(self) -> list[str]:
        """The texts of conjuncts, by number."""
        return list(self._words)

    def conjuncts(self, formula: Condition) -> list[tuple[int, int]]:
        """The conjuncts of a formula: of each the number of its text and its own."""
        return [(self._word(part), self.number(part)) for part in conjuncts(formula)]

    def of(self, prop: Property) -> list[tuple[int, int]]:
        """What there is to watch of a property: its conjuncts if it must hold, otherwise its formulas, pair by pair."""
        if prop.kind in ("always", "step", "deadlock"):
            return self.conjuncts(prop.formula)
        return [(self._word(f), self.number(f)) for f in [f for lead in prop.leads for f in lead] or [prop.formula]]

    def number(self, formula: Condition) -> int:
        """The number of a formula, which is watched from now on."""
        if formula not in self._numbers:
            self._numbers[formula] = len(self.formulas)
            self.formulas.append(formula)
            self.parts.append([])
            self.parts[self._numbers[formula]] = self._part(formula)
        return self._numbers[formula]

    def _part(self, formula: Condition) -> list[str | int]:
        connective = CONNECTIVES.get(formula.op)
        if connective:
            return [connective, *(self.number(child) for child in conditions_of(formula))]
        names = {constant.detail for constant in constants_of(formula)}
        return ["", *sorted(-1 - self._places[n[:-1]] if n.endswith("'") else self._places[n] for n in names)]

    def _word(self, formula: Condition) -> int:
        return self._words.setdefault(shortened(self._in_words(formula)), len(self._words))


class Observer:
    """What a page asks of a state or a step: ``states`` and ``steps`` are the formulas, ``kernel`` the machine."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self.states, self.steps = Watched(protocol), Watched(protocol)

    @cached_property
    def kernel(self) -> Kernel:
        """The machine that observes what was asked for until now."""
        watched = copy.copy(self._protocol)
        watched.actions = []  # states are given here, and none is made
        return Kernel(watched, self.states.formulas, self.steps.formulas)


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
