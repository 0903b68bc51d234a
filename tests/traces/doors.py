"""A door in the wind: a protocol whose only violations are runs that never end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fencepost.model.language import And, Not, Protocol
from fencepost.properties.vocabulary import Suite


def door(*, radio: bool = False, bugs: Iterable[str] = ()) -> Protocol:
    """A guest who has rung is let in, unless the door is just blown open and shut by the wind; a radio plays to it or not."""
    p = Protocol("door", active=bugs)
    rung, shut, inside = p.flag("rung"), p.flag("shut", init=True), p.flag("inside")

    @p.step(by="guest")
    def ring() -> Any:
        """The guest rings, which nobody has to."""
        return Not(rung), {rung: True}

    @p.step(by="wind", fair=True)
    def swing() -> Any:
        """The door goes to and fro."""
        return Not(inside), {shut: Not(shut)}

    @p.step(by="host", fair=True)
    def let_in() -> Any:
        """The host lets the guest in if the door is not open already."""
        return And(rung, shut, Not(inside)), {inside: True}

    if radio:
        on = p.flag("on")

        @p.step(by="radio")
        def play() -> Any:
            """The radio is switched on or off, which changes nothing for anybody."""
            return True, {on: Not(on)}

    return p


def suite(p: Protocol) -> Suite:
    properties, s = Suite(p), p.state

    @properties.leads_to
    def guests_get_in() -> Any:
        """Who has rung gets in."""
        return s.rung, s.inside

    @properties.always
    def rings_first() -> Any:
        """Nobody is inside who has not rung."""
        return Not(And(s.inside, Not(s.rung)))

    return properties
