"""A small protocol with every kind of variable that an exchange moves, ways to spoil its symmetry, and a state exchanged."""

from __future__ import annotations

from typing import Any

from fencepost.model.analysis.exchange import Transposition
from fencepost.model.language import And, If, Not, Or, Protocol, any_of, at_least

SPOILS = ("start", "action", "missing", "order", "effect")


Raw = tuple[int, ...]


def exchanged(p: Protocol, exchange: Transposition, raw: Raw) -> Raw:
    """What a state, raw values in the order of the variables, is with two members exchanged."""
    values = {exchange.place(v): exchange.value(v.domain, value) for v, value in zip(p.variables, raw, strict=True)}
    return tuple(values[v.family, v.index] for v in p.variables)


def locks(brokers: int = 3, *, spoiled: str = "") -> Protocol:
    """Brokers take a lock in turns, tell each other of it, and elect by majority; ``spoiled`` says what tells them apart."""
    p = Protocol("locks")
    broker = p.universe("broker", brokers)
    p.universe("single", 1)
    up = p.flag("up", per=broker, init=lambda b: spoiled != "start" or b != 1)
    owner = p.choice("owner", ["nobody", *(broker.label(b) for b in broker)])
    last = p.choice("last", broker, per=broker, init=lambda b: b)
    knows = p.subset("knows", broker, per=(broker, p.universe("place", 2)))
    seats = p.number("seats", 0, 3, per=broker, init=1)
    p.budget("falls", 1)

    @p.step(by="b", b=broker)
    def take(b: int) -> Any:
        """The broker takes the lock that nobody has."""
        may = up[b] if spoiled != "action" or b != 1 else Or(up[b], seats[b] == 2)
        return And(may, owner == "nobody"), {owner: broker.label(b), last[b]: b}

    @p.step(by="b", b=broker, o=broker)
    def tell(b: int, o: int) -> Any:
        """One broker tells another who has the lock."""
        others = b != o and not (spoiled == "missing" and (b, o) == (1, 0))
        counted = If(seats[o] < 3, seats[o] + (2 if spoiled == "effect" and o == 2 else 1), seats[o])
        counted = If(counted > 3, 3, counted)
        return And(others, owner == broker.label(b), Not(knows[o, 0].has(b))), {
            knows[o, 0]: knows[o, 0].plus(b),
            last[o]: b,
            seats[o]: counted,
        }

    @p.step(by="b", b=broker)
    def leave(b: int) -> Any:
        """The owner that a majority knows lets go; who heard of it is kept in the second place."""
        known = at_least(brokers // 2, [knows[o, 0].has(b) for o in broker if o != b])
        best = last[b] == b if spoiled != "order" else last[b].among(*range(b + 1))
        return And(owner == broker.label(b), known, best), {
            owner: "nobody",
            **{knows[o, 1]: knows[o, 0] & ~knows[o, 1] for o in broker},
        }

    @p.fault(by="b", b=broker, spends="falls")
    def fall(b: int) -> Any:
        """A broker stops, and the lock is free if it was its own."""
        mine = owner == broker.label(b)
        return And(up[b], any_of(up[o] for o in broker)), {up[b]: False, owner: If(mine, 0, owner)}

    return p
