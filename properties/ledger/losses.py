"""Which entry of a ledger is lost: what odds count, entry by entry."""

from __future__ import annotations

from dataclasses import replace

from fencepost.model.language import And, Not, Protocol, Truth, any_of
from fencepost.model.language.declarations import Action
from fencepost.properties.ledger.guarantees import LedgerWords
from fencepost.properties.ledger.variables import LedgerVariables


def entry_is_cut_off(p: Protocol, e: int) -> Truth:
    """The formula: entry e is confirmed, and the ledger is closed before it."""
    return And(
        LedgerVariables.now(p).status == "closed", LedgerVariables.now(p).confirmed.has(e), LedgerVariables.now(p).last < e
    )


def adds_take_their_ensemble_first(p: Protocol) -> Protocol:
    """The ledger with the bug ``captured_ensemble``, where every add takes the ensemble as it comes, and is queued later.

    The model also lets one be queued at once, which is the same with no time between. Odds need one arrival for each entry.
    """
    words = LedgerWords(p)
    taken = {e: any_of(LedgerVariables.now(p).sent_to[b].has(e) for b in words.bookie) for e in words.entry}
    p.actions = [replace(a, guard=And(a.guard, taken[a.grounding[0][1]])) if a.name == "send" else a for a in p.actions]
    return p


def adds_come_once(p: Protocol) -> Protocol:
    """The ledger where a bookie takes an add of the writer once.

    The model lets a request arrive at any later time, and so again at a bookie that has lost its entry. That is sound for
    whether something can happen. A connection ends with the bookie's process, and a client sends an add to a bookie once.
    Odds would have the entry restored as soon as the bookie is back.
    """

    def once(action: Action) -> Action:
        (_, b), (_, e) = action.grounding
        return replace(action, guard=And(action.guard, Not(LedgerVariables.now(p).taken_by_bookie[b].has(e))))

    p.actions = [once(a) if a.name == "add" else a for a in p.actions]
    return p


def the_first_bookie_forgets(p: Protocol) -> Protocol:
    """The ledger with the bug ``failed_save_forgotten``, where a flush of the first bookie fails, and that one is killed.

    Bookies are alike, so all of them together lose as often as one of them times their number. The kill of another one loses
    nothing.
    """
    first = p.universes["bookie"].label(0)
    faults = ("fail_to_save", "pass_over", "crash")
    p.actions = [a for a in p.actions if a.name not in faults or a.arguments["b"] == first]
    return p


def entry_has_no_copy(p: Protocol, e: int) -> Truth:
    """The formula: entry e is confirmed, and no bookie of its write set has a copy."""
    words = LedgerWords(p)
    return And(LedgerVariables.now(p).confirmed.has(e), Not(any_of(words.has_copy(b, e) for b in words.bookie)))
