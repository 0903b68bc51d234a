"""What decides what a protocol does: a digest of all of it; and slices, the part that some formulas can see, their cone of
influence.

A variable is kept if a formula mentions it, or if an action that changes a kept variable mentions it in its guard or in the new
value. An action that changes no kept variable is left out; the others keep their guards. So a kept action is enabled in a state
of the slice just if it is in every state of the whole that agrees on the kept variables, and does the same to these. A run of
the slice is one of the whole by the same actions; a run of the whole, without actions that are left out, is one of the slice.
What can be reached, and in how few steps, is the same; who is enabled forever and where runs end is not.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256

from fencepost.model.analysis.exchange import Transposition
from fencepost.model.language.declarations import Action, Variable
from fencepost.model.language.domains import Universe
from fencepost.model.language.protocol import Protocol
from fencepost.model.terms.values import Condition


def digest_of(protocol: Protocol, formulas: Iterable[Condition] = ()) -> bytes:
    """A digest of a protocol's universes, variables and actions, in order, of the protocol that it is a slice of, and of
    formulas. A variable has its universes in it, and not only their labels, which two universes may share."""
    whole = sha256()
    for part in dict.fromkeys((protocol.whole, protocol)):
        whole.update(_description(tuple(part.universes.values()), tuple(part.variables), tuple(part.actions)))
    whole.update(b"".join([b"formulas", *(formula.digest for formula in formulas)]))
    return whole.digest()


@lru_cache(maxsize=4)
def _description(universes: tuple[Universe, ...], variables: tuple[Variable, ...], actions: tuple[Action, ...]) -> bytes:
    """What these are, which never change: of one protocol several digests are asked for, one after the other."""
    return b"".join(_lines(universes, variables, actions))


def _lines(universes: Sequence[Universe], variables: Sequence[Variable], actions: Sequence[Action]) -> Iterator[bytes]:
    yield repr(list(universes)).encode()
    for v in variables:
        yield repr((v.name, v.family, v.index, [u.name for u in v.universes], v.domain, v.initial)).encode()
    for action in actions:
        grounding = [(universe and universe.name, member) for universe, member in action.grounding]
        updates = [(variable.name, term.digest) for variable, term in action.updates.items()]
        yield repr((action.label, action.name, grounding, action.guard.digest, updates)).encode()


def sliced(protocol: Protocol, formulas: Iterable[Condition]) -> Protocol:
    """The slice of a whole protocol that decides what can be reached of the formulas, over values and next values.

    Its ``whole`` is the protocol; it is that protocol itself if all of it matters. It is for search alone: the names of what is
    left out are still known to it.
    """
    cone = _cone(protocol, formulas)
    if not cone or cone.issuperset(varying(protocol)):
        return protocol
    actions = [action for action in protocol.actions if not cone.isdisjoint(action.updates)]
    part = copy.copy(protocol)
    part.variables = [variable for variable in protocol.variables if variable in cone]
    part.actions = [replace(a, updates={v: new for v, new in a.updates.items() if v in cone}) for a in actions]
    part.universes = {name: u for name, u in protocol.universes.items() if any(_concerns(u, v) for v in cone)}
    return part


def _cone(protocol: Protocol, formulas: Iterable[Condition]) -> set[Variable]:
    """The variables that matter to the formulas."""
    cone = set[Variable]().union(*map(protocol.variables_of, formulas))
    size = -1
    while len(cone) != size:
        size = len(cone)
        for action in protocol.actions:
            for variable in cone.intersection(action.updates):
                cone |= protocol.variables_of(action.guard) | protocol.variables_of(action.updates[variable])
    return cone


def varying(protocol: Protocol) -> list[Variable]:
    """The variables that may have more than one value: an action changes them, or they start as one of several."""
    changed = set[Variable]().union(*(action.updates for action in protocol.actions))
    return [variable for variable in protocol.variables if variable in changed or len(variable.initial) > 1]


def _concerns(universe: Universe, variable: Variable) -> bool:
    """Whether an exchange of members of the universe does something to the variable: of one that no kept variable is concerned
    with, the members would be interchangeable to no end."""
    if universe.size < 2:
        return universe in variable.universes
    exchange = Transposition(universe, 0, 1)
    return universe in variable.universes or bool(exchange.choices(variable.domain) or exchange.bits(variable.domain))
