"""Ledgers with fewer runs, in which a known bug shows soonest: one thing happens after the other.

Every run of such a ledger is a run of the ledger itself, because guards are only strengthened and actions left out. So what
fails here fails there, in an instance whose states are too many to search; what holds here says nothing of it. Where something
must come about, only faults and what the property calls unfair may be held back, as in those whose bookies go down.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

from fencepost.model.bookkeeper.ledger import ledger
from fencepost.model.language import Action, And, Not, Or, Protocol, Truth, all_of
from fencepost.properties.ledger.liveness import WRITERS
from fencepost.properties.ledger.variables import LedgerVariables

OF_THE_WRITER = ("send", "take_ensemble", "add", "ack", "confirm", "replace", "publish_change", "resend")
SELDOM = (
    *("close", "find_closed", "fence_unheard", "read_unanswered", "late_recovery_add", "replace_in_recovery", "adopt_end"),
    "read_tail",
)
"""Actions without which most known bugs show."""

Conditions = Mapping[str, Callable[[Action], Truth]]


@wraps(ledger)
def recovered_last(**settings: Any) -> Protocol:
    """A ledger that is recovered when all its entries are confirmed, and whose writer does nothing from then on."""
    p = ledger(**settings)
    idle = all_of(LedgerVariables.now(p).phase[r] == "idle" for r in p.universes["recoverer"])
    writes: Conditions = dict.fromkeys(OF_THE_WRITER, lambda _: idle)
    return _with(_with(p, writes), {"add": _in_order(p), "recover": lambda _: _all_confirmed(p)}, without=SELDOM)


@wraps(ledger)
def replaced_first(**settings: Any) -> Protocol:
    """A ledger whose bookies are replaced one by one, each by the next that is spare, before any has an entry, and that loses
    disks when all entries are confirmed."""
    p = ledger(**settings)
    s, ensemble = LedgerVariables.now(p), p.parameters["ensemble"]
    bookies = [p.universes["bookie"].label(b) for b in p.universes["bookie"]]
    in_order = _in_order(p)
    return _with(
        p,
        {
            "replace": lambda action: s.changes == bookies.index(action.arguments["n"]) - ensemble,
            "add": lambda action: And(s.changes == p.parameters["changes"], in_order(action)),
            "lose_disk": lambda _: _all_confirmed(p),
        },
        without=SELDOM,
    )


@wraps(ledger)
def down_before_the_writer(**settings: Any) -> Protocol:
    """A ledger whose bookies go down for good before its writer sends anything."""
    p = ledger(**settings)
    nothing_sent = LedgerVariables.now(p).sent == -1
    return _with(
        p, {"crash": lambda action: And(nothing_sent, _earlier_ones_are_down(p, action))}, without=("restart", "close")
    )


@wraps(ledger)
def down_before_the_recovery(**settings: Any) -> Protocol:
    """A ledger whose bookies go down for good before its recovery begins, and whose writer does nothing from then on."""
    p = ledger(**settings)
    s = LedgerVariables.now(p)
    idle = all_of(s.phase[r] == "idle" for r in p.universes["recoverer"])
    up = all_of(s.up[b] for b in p.universes["bookie"])
    writes: Conditions = {a.name: lambda _: up for a in p.actions if {a.name, a.actor} & set(WRITERS)}
    return _with(_with(p, writes), {"crash": lambda action: And(idle, _earlier_ones_are_down(p, action))}, without=("restart",))


def _earlier_ones_are_down(p: Protocol, action: Action) -> Truth:
    """The condition of a crash: bookies go down in the order of their numbers."""
    s, bookie = LedgerVariables.now(p), p.universes["bookie"]
    return And(*(Not(s.up[b]) for b in bookie if bookie.label(b) < action.arguments["b"]))


def _all_confirmed(p: Protocol) -> Truth:
    return all_of(LedgerVariables.now(p).confirmed.has(e) for e in p.universes["entry"])


def _in_order(p: Protocol) -> Callable[[Action], Truth]:
    """The condition of an add: acknowledgements have been heard, and bookies that come before have the entry."""
    s, bookie, entry = LedgerVariables.now(p), p.universes["bookie"], p.universes["entry"]
    bookies, entries = ([universe.label(x) for x in universe] for universe in (bookie, entry))
    heard = Not(Or(*(action.guard for action in p.actions if action.name == "ack")))

    def condition(action: Action) -> Truth:
        mine, e = bookies.index(action.arguments["b"]), entries.index(action.arguments["e"])
        return And(heard, *(Or(Not(s.sent_to[b].has(e)), s.stored[b].has(e)) for b in bookie if b < mine))

    return condition


def _with(p: Protocol, conditions: Conditions, *, without: Collection[str] = ()) -> Protocol:
    """The protocol with actions that happen only where a condition is met, and without some."""
    actions = [action for action in p.actions if action.name not in without]
    p.actions = [replace(a, guard=And(a.guard, conditions[a.name](a))) if a.name in conditions else a for a in actions]
    return p
