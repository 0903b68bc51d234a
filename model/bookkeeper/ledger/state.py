"""The variables of the ledger protocol: the metadata in the store, the bookies, the writer, the recoveries, the readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from fencepost.model.bookkeeper.ensembles import Ensembles, Striping
from fencepost.model.language import And, Condition, If, Not, Number, Protocol, Truth, Updates, any_of

Status = Literal["open", "in_recovery", "closed", "deleted"]
STATUSES: Sequence[Status] = get_args(Status)
Writer = Literal["writing", "changing", "changed", "closed", "failed"]
WRITER: tuple[Writer, ...] = get_args(Writer)
Recovery = Literal["idle", "fencing", "reading", "adding", "done"]
RECOVERY: tuple[Recovery, ...] = get_args(Recovery)


class LedgerState:
    """The variables of an instance, declared when it is made, and the numbers that its rules need."""

    def __init__(self, p: Protocol, sizes: Mapping[str, int]) -> None:
        entries, changes, recoverers = sizes["entries"], sizes["changes"], sizes["recoverers"]
        self.entries, self.changes = entries, changes
        self.write_quorum, self.ack_quorum = sizes["write_quorum"], sizes["ack_quorum"]
        striping = Striping(sizes["ensemble"], self.write_quorum, entries)

        bookie = self.bookie = p.universe("bookie", sizes["bookies"])
        entry = self.entry = p.universe("entry", entries)
        p.universe("fragment", changes + 1)
        p.universe("single", 1, "f")  # of the one ensemble that a recovery remembers from its start
        recoverer = self.recoverer = p.universe("recoverer", recoverers)
        reader = self.reader = p.universe("reader", sizes["readers"], "reader")

        # The metadata store. Every update raises the version by one; ``versions`` is more than an instance can reach, and that
        # ``may_update`` never stands in the way is a lemma (version_is_bounded).
        versions = self.versions = changes + recoverers + 3
        self.status = p.choice("status", STATUSES)
        self.version = p.number("version", 0, versions)
        self.last = p.number("last", -1, entries - 1)
        self.length = p.number("length", 0, entries)  # in entries: see lengths.py
        self.published: Ensembles = Ensembles.declare(p, "published", striping)

        # The bookies.
        self.up = p.flag("up", per=bookie, init=True)
        self.stored = p.subset("stored", entry, per=bookie)
        self.rotten = p.subset("rotten", entry, per=bookie)
        self.bookie_lac = p.number("bookie_lac", -1, entries - 1, per=bookie)
        self.explicit_lac = p.number("explicit_lac", -1, entries - 1, per=bookie)
        self.fenced = p.flag("fenced", per=bookie)
        self.limbo = p.flag("limbo", per=bookie)
        for_good = sizes["losses"] and not sizes["data_integrity"]
        self.gone = p.flag("gone", per=bookie) if for_good else None  # with its disk, and does not start any more

        # The writer. It is "changing" while the store has not made its change of ensemble, "changed" when the store has and it
        # does not know. ``sent_to`` are the adds that it has sent to a bookie, ``taken_by_bookie`` those that the bookie took,
        # ``acked`` those whose acknowledgement has reached the writer and still matters.
        self.writer = p.choice("writer", WRITER)
        self.sent = p.number("sent", -1, entries - 1)
        self.lac = p.number("lac", -1, entries - 1)
        self.confirmed = p.subset("confirmed", entry)
        self.piggybacked_lac = p.number("piggybacked_lac", -1, entries - 1, per=entry)
        self.sent_to = p.subset("sent_to", entry, per=bookie)
        self.taken_by_bookie = p.subset("taken_by_bookie", entry, per=bookie)
        self.acked = p.subset("acked", entry, per=bookie)
        self.writers: Ensembles = Ensembles.declare(p, "writer", striping)

        # The runs of recovery. ``recovery_lac`` is the last add confirmed of the handle that recovers: up to it recovery knows
        # that the entries are in the ledger, first because a bookie's last add confirmed says so, then because it has
        # stored them again itself. ``coverage`` are the bookies whose last add confirmed has been heard, ``no_such_entry``
        # those that have denied the entry after ``recovery_lac``, ``recovery_acked`` those that have stored it again.
        self.phase = p.choice("phase", RECOVERY, per=recoverer)
        self.recovery_lac = p.number("recovery_lac", -1, entries - 1, per=recoverer)
        self.coverage = p.subset("coverage", bookie, per=recoverer)
        self.no_such_entry = p.subset("no_such_entry", bookie, per=recoverer)
        self.recovery_acked = p.subset("recovery_acked", bookie, per=recoverer)
        self.found = p.subset("found", entry, per=recoverer)
        self.spoiled = p.flag("spoiled", per=recoverer)

        # Upstream keeps two things apart: ``metadataForRecovery``, from which it reads, and ``newEnsemblesFromRecovery``, to
        # which it writes. Here the second has the ensembles before it as well: it is what a close publishes.
        self.new_ensembles = Ensembles.declare(p, "new", striping, recoverer)
        self.for_recovery = Ensembles.declare(p, "for_recovery", striping, recoverer, fragments="single")

        # The readers.
        self.read_to = p.number("read_to", -1, entries - 1, per=reader)

        self.may_update = self.version < versions
        self.after_update: Updates = {self.version: self.version + 1}

    def lac_after(self, b: int, e: Number | int, piggybacked_lac: Number | int) -> Number:
        """The last add confirmed that a bookie tells of once it has stored an entry: that of the last entry's latest copy."""
        return If(self.has_later(b, e), self.bookie_lac[b], piggybacked_lac)

    def has_later(self, b: int, e: Number | int) -> Condition:
        """The bookie has an entry after this one."""
        return any_of(And(self.stored[b].has(later), later > e) for later in self.entry)

    def is_gone(self, b: int) -> Truth:
        """The bookie has lost its disk, and does not start any more."""
        return False if self.gone is None else self.gone[b]

    def last_is_rotten(self, b: int) -> Condition:
        """The digest of a bookie's last entry, with which it tells its last add confirmed, does not match."""
        return any_of(And(self.stored[b].has(e), self.rotten[b].has(e), Not(self.has_later(b, e))) for e in self.entry)

    def recovered_next(self, r: int) -> Number:
        """The entry that the recovery reads, or stores again: the one after its last add confirmed."""
        return self.recovery_lac[r] + 1
