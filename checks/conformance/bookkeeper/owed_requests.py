"""The requests that BookKeeper's clients owe in a state of the model, and those that they have, in the same words.

An add of the writer counts as long as the run lasts, because it may always arrive once more: what the writer has ever sent is
what the model has in ``sent_to``. A read or a recovery add counts until it is answered.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from fencepost.checks.conformance.bookkeeper.ledger_requests import ADDING, Ledger
from fencepost.checks.conformance.java_side.session import Told
from fencepost.checks.conformance.running.adapter import Owed

LAC = -1
OURS = ("read-lac", "write-lac")
"""Kinds of requests that are there because a step of ours asked for them, and that are then answered at once or kept."""


def requests_of(seen: Told) -> frozenset[str]:
    """The requests that the harness tells of."""
    words = set()
    for owner, kind, bookie, entry, _delivered, answered in seen["requests"]:
        if owner == "reader" or kind in OURS or (owner != "writer" and answered):
            continue
        words.add(_words(owner, kind, bookie, entry))
    for owner, kind, done in seen["operations"]:
        words.add(f"{owner} metadata {kind}{' done' if done else ''}")
    return frozenset(words)


def owed(ledger: Ledger) -> Owed:
    """What the clients owe in a state."""
    # an add that has its ensemble, and is not queued yet, is sent nowhere
    must = {_words("writer", "add", b, e) for b in ledger.bookies for e in ledger.sent_to(b) if e <= ledger.sent}
    if ledger.writer == "changing":
        must.add("writer metadata write")
    if ledger.writer == "changed" and not ledger.unset_to:
        must.add("writer metadata write done")
    may: set[str] = set()
    if ledger.unset_to:  # the code goes through the whole loop at once
        later = range(ledger.unset_to, ledger.sent + 1)
        may |= {word for e in later for word in _each("writer", "add", ledger.write_set(ledger.writers(), e), e)}
    some: list[frozenset[str]] = []
    for r in ledger.recoverers:
        phase = ledger.phase(r)
        if phase == "idle":
            continue
        may |= _left_over(ledger, r)
        if phase == "fencing":
            must |= _each(r, "read", ledger.at_start(r)[-1].bookies, LAC) - _each(r, "read", ledger.covered(r), LAC)
        if phase == "reading":
            some += _reading(ledger, r, must)
        if phase == ADDING:
            at = ledger.next_entry(r)
            must |= _each(r, "recovery-add", ledger.write_set(ledger.recovered(r), at) - ledger.added_again(r), at)
            # the next read starts as soon as the add is submitted
            some.append(_each(r, "read", ledger.write_set(ledger.at_start(r), at + 1), at + 1))
    return Owed(frozenset(must), frozenset(may), tuple(some))


def denials_needed(ledger: Ledger) -> int:
    """How many bookies of a write set must deny an entry for the ledger to end before it."""
    return ledger.write_quorum - ledger.ack_quorum + 1


def _reading(ledger: Ledger, r: str, must: set[str]) -> list[frozenset[str]]:
    """What is owed while a recovery reads: a read of the entry that it is at, or, at the end, the closing of the ledger."""
    at = ledger.next_entry(r)
    asked = ledger.write_set(ledger.at_start(r), at)
    denied = ledger.denied(r) & asked
    if len(denied) >= denials_needed(ledger):
        must.add(f"{r} metadata write")
        return []
    return [_each(r, "read", asked - denied, at)]


def _left_over(ledger: Ledger, r: str) -> set[str]:
    """What may still be unanswered of what a recovery has asked before, and which changes nothing any more."""
    # when a recovery is over, its entry says where the ledger ends, and no more where the recovery was
    at, words = ledger.size if ledger.phase(r) == "done" else ledger.next_entry(r), set[str]()
    words |= _each(r, "read", ledger.at_start(r)[-1].bookies, LAC)
    for entry in range(at + 1):
        words |= _each(r, "read", ledger.write_set(ledger.at_start(r), entry), entry)
    for entry in ledger.recovery_entries(r) - ({at} if ledger.phase(r) == ADDING else set()):
        words |= _each(r, "recovery-add", ledger.write_set(ledger.recovered(r), entry), entry)
    return words


@cache
def _each(owner: str, kind: str, bookies: Collection[str], entry: int) -> frozenset[str]:
    return frozenset(_words(owner, kind, bookie, entry) for bookie in bookies)


@cache
def _words(owner: str, kind: str, bookie: str, entry: int) -> str:
    return f"{owner} {kind} {bookie} {'lac' if entry == LAC else f'e{entry}'}"
