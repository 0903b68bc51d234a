"""The life of one BookKeeper ledger: written, handed from bookie to bookie, fenced, recovered, closed.

Mirrors bookkeeper-server as of 2026-08 (LedgerHandle, PendingAddOp, LedgerRecoveryOp, ReadLastConfirmedOp,
ReadOnlyLedgerHandle, MetadataUpdateLoop on the client; BookieImpl, LedgerDescriptorImpl, ReadEntryProcessor at the bookie).

How the network is modelled. A request, once sent, may arrive at any later time, more than once, overtaken by later ones,
or never. (TCP would keep the adds of a writer to one bookie in order; what holds without that holds with it.) A client that
has crashed is one that takes no further step, and nothing ever obliges a client to take one: each run of recovery is a
recoverer of its own, so a recovery that fails and runs again is two recoverers. Where an answer would only be recorded by
its receiver, the bookie's handling and the receipt are one step, and the bookie's handling alone (the answer lost, or too
late to matter) is another. A read followed by a compare-and-set that succeeds saw what it replaced, and one that fails is
repeated after a new read, so such a loop is one step; only the writer's change of ensemble, which goes on while bookies
answer, is taken apart: asked, done by the store, heard of. A compare-and-set whose outcome stays unknown is one that is
done and never heard of. While a change is asked for the writer sends nothing new; it might as well have sent it before.

Bounds. ``entries`` is the number of adds that the application makes. Recovery of an instance stops after its last entry
without asking for one more, because no bookie can hold it. Three things are simpler than upstream. Recovery writes an entry
back before it reads the next one; upstream it awaits the write-backs only before it closes. An entry counts as stored once
it is journaled; upstream it can be read a moment before, and a crash then takes it back. And deletion is of closed ledgers.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fencepost.model.bookkeeper.ensembles import Ensembles, Striping
from fencepost.model.language import And, If, ModelError, Not, Or, Protocol, any_of, at_least, maximum

STATUSES = ("open", "in_recovery", "closed", "deleted")
WRITER = ("writing", "changing", "changed", "closed", "failed")
RECOVERY = ("idle", "fencing", "reading", "rewriting", "done")

DEFECTS = {
    "recovery_reads_do_not_fence": "bookkeeper#2614: only the read of the last add confirmed fences, reads of entries do not",
    "fence_not_durable": "bookkeeper#205: a fence is acknowledged before it is journaled, and a crash takes it back",
    "recovery_ensemble_starts_early": "bookkeeper#2615: an ensemble changed in recovery starts one entry too early",
    "confirms_while_changing": "bookkeeper#1886, #4097, #4651: adds are confirmed by the old ensemble while it is being "
    "replaced, so that the metadata and the bookies written differ",
    "denies_what_it_has": "bookkeeper#2908, #2909: a bookie answers NoSuchEntry for an entry that it has",
    "empty_disk_counts_as_heard": "bookkeeper#2612, #4812: a bookie that is back with an empty disk under its old name answers "
    "as if it had lost nothing",
    "fence_forgotten_on_delete": "bookkeeper#4462: deletion takes the fence along, and a late add is accepted again",
    "explicit_lac_lost": "bookkeeper#1527: a restarted bookie has lost the explicit last add confirmed",
    "ignores_fence": "a bookie accepts the writer's adds to a fenced ledger",
    "no_fence_on_unknown_ledger": "a bookie that holds nothing of the ledger yet does not fence it",
    "one_missing_suffices": "recovery takes one NoSuchEntry as the end of the ledger",
    "missing_threshold_too_low": "recovery takes write quorum - ack quorum answers of NoSuchEntry as the end, one too few",
    "unknown_counts_as_missing": "recovery counts a bookie that does not answer as one that does not have the entry",
    "closes_at_lac": "recovery closes at the last add confirmed that it heard, without reading on",
    "closes_before_write_back": "recovery goes on before the entry that it found is written back",
    "writer_closes_blindly": "the writer closes without compare-and-set, over a ledger that recovery has closed",
    "recovery_closes_blindly": "recovery closes without compare-and-set",
    "recovery_publishes_at_once": "recovery publishes a change of ensemble at once instead of when it closes",
    "reads_follow_current_ensemble": "recovery reads from its changed ensemble instead of the one that it started with",
    "lac_search_starts_at_zero": "the search for the last add confirmed starts at entry 0 instead of at none",
    "confirms_with_gaps": "an entry is confirmed although one before it is not",
    "change_not_committed": "the writer uses a new ensemble without writing it to the metadata",
    "change_ignores_version": "the writer's change of ensemble overwrites the metadata whatever their version",
    "replaced_acks_kept": "acknowledgements of a bookie that has left the ensemble still count",
    "limbo_answers_missing": "a bookie without a journal answers NoSuchEntry after an unclean stop for what it may have lost",
    "limbo_not_fenced": "a bookie without a journal does not fence its open ledgers after an unclean stop",
    "digest_unchecked": "recovery writes back an entry whose digest does not match",
    "fencing_waits_for_one": "weakening: the fencing phase ends with the first answer",
    "fencing_waits_for_none": "weakening: there is no fencing phase, recovery reads at once",
    "recovery_not_marked": "weakening: recovery does not mark the ledger in the metadata before it starts",
}

WEAKENINGS = ("fencing_waits_for_one", "fencing_waits_for_none", "recovery_not_marked")
"""Defects with which no entry is lost, because another protection covers them."""


def ledger(
    *,
    bookies: int = 3,
    ensemble: int = 3,
    write_quorum: int = 3,
    ack_quorum: int = 2,
    entries: int = 2,
    recoverers: int = 1,
    changes: int = 0,
    crashes: int = 0,
    losses: int = 0,
    rots: int = 0,
    explicit_lacs: int = 0,
    deletions: int = 0,
    readers: int = 1,
    defects: Iterable[str] = (),
) -> Protocol:
    """One ledger with its writer, its bookies, ``recoverers`` runs of recovery and ``readers`` that follow its tail.

    ``changes`` bounds the changes of ensemble (by the writer and by recoveries together), ``crashes`` those of bookies,
    ``losses`` the times that a bookie comes back with some or all of its entries lost, ``rots`` the copies that go bad,
    ``explicit_lacs`` the last adds confirmed that the writer sends without an entry, ``deletions`` those of the ledger (0 or
    1). Raises ModelError unless 1 <= ack_quorum <= write_quorum <= ensemble <= bookies and 1 <= entries.
    """
    if not 1 <= ack_quorum <= write_quorum <= ensemble <= bookies:
        raise ModelError(
            f"ledger: 1 <= ack_quorum ({ack_quorum}) <= write_quorum ({write_quorum}) <= ensemble ({ensemble})"
            f" <= bookies ({bookies}) does not hold"
        )
    if entries < 1:
        raise ModelError("ledger: entries is at least 1")
    parameters = {name: value for name, value in locals().items() if name != "defects"}
    p = Protocol("ledger", doc=__doc__, parameters=parameters, defects=DEFECTS, active=defects)
    striping = Striping(ensemble, write_quorum, entries)

    bookie = p.universe("bookie", bookies)
    entry = p.universe("entry", entries)
    fragment = p.universe("fragment", changes + 1)
    p.universe("single", 1, "f")  # of the one ensemble that a recovery remembers from its start
    recoverer = p.universe("recoverer", recoverers)
    reader = p.universe("reader", readers, "reader")

    # The metadata store. Every update raises the version by one; ``versions`` is more than an instance can reach, and that
    # ``may_update`` never stands in the way is a lemma (version_is_bounded).
    versions = changes + recoverers + 3
    status = p.choice("status", STATUSES)
    version = p.number("version", 0, versions)
    last = p.number("last", -1, entries - 1)
    (published,) = Ensembles.declare(p, "published", striping)

    # The bookies.
    up = p.flag("up", per=bookie, init=True)
    stored = p.subset("stored", entry, per=bookie)
    rotten = p.subset("rotten", entry, per=bookie)
    bookie_lac = p.number("bookie_lac", -1, entries - 1, per=bookie)
    explicit_lac = p.number("explicit_lac", -1, entries - 1, per=bookie)
    fenced = p.flag("fenced", per=bookie)
    limbo = p.flag("limbo", per=bookie)

    # The writer. It is "changing" while the store has not made its change of ensemble, "changed" when the store has and it
    # does not know. ``requested`` are the adds that it has sent to a bookie, ``accepted`` those that the bookie took, ``acked``
    # those whose acknowledgement has reached the writer and still matters.
    writer = p.choice("writer", WRITER)
    sent = p.number("sent", -1, entries - 1)
    lac = p.number("lac", -1, entries - 1)
    confirmed = p.subset("confirmed", entry)
    carried = p.number("carried", -1, entries - 1, per=entry)
    requested = p.subset("requested", entry, per=bookie)
    accepted = p.subset("accepted", entry, per=bookie)
    acked = p.subset("acked", entry, per=bookie)
    writer_version = p.number("writer_version", 0, versions)
    (writers,) = Ensembles.declare(p, "writer", striping)

    # The runs of recovery. ``next_entry`` is the entry after the last add confirmed while fencing, then the entry being
    # recovered, then the one after the end of the ledger.
    phase = p.choice("phase", RECOVERY, per=recoverer)
    next_entry = p.number("next_entry", 0, entries, per=recoverer)
    heard = p.subset("heard", bookie, per=recoverer)
    missing = p.subset("missing", bookie, per=recoverer)
    rewritten = p.subset("rewritten", bookie, per=recoverer)
    found = p.subset("found", entry, per=recoverer)
    spoiled = p.flag("spoiled", per=recoverer)
    recovery_version = p.number("recovery_version", 0, versions, per=recoverer)
    recovered = Ensembles.declare(p, "recovery", striping, recoverer)
    at_start = Ensembles.declare(p, "start", striping, recoverer, fragments="single")

    # The readers.
    read_to = p.number("read_to", -1, entries - 1, per=reader)

    p.budget("changes", changes)
    p.budget("crashes", crashes)
    p.budget("losses", losses)
    p.budget("rots", rots)
    p.budget("explicit_lacs", explicit_lacs)
    p.budget("deletions", deletions)

    def after_update() -> dict[Any, Any]:
        return {version: version + 1}

    may_update = version < versions

    # --- the writer

    def writer_lives() -> Any:
        return writer.among("writing", "changing", "changed")

    @p.step(by="writer", e=entry, fair=True)
    def send(e: int) -> Any:
        """The application adds entry e: it goes to its write set, and carries the last add confirmed as of now.

        Entries follow each other without a gap, and none is sent while the ensemble changes.
        """
        return And(writer == "writing", sent == e - 1), {
            sent: e,
            carried[e]: lac,
            **{requested[b]: If(writers.holds(b, e), requested[b].plus(e), requested[b]) for b in bookie},
        }

    @p.step(by="b", b=bookie, e=entry, fair=True)
    def add(b: int, e: int) -> Any:
        """The bookie stores an add of the writer, unless the ledger is fenced there.

        Nothing else keeps an add that is still under way from being acknowledged when recovery has already found the end of
        the ledger before it.
        """
        is_new = Not(And(stored[b].has(e), accepted[b].has(e)))
        takes_adds = True if p.has("ignores_fence") else Not(fenced[b])
        return And(up[b], requested[b].has(e), is_new, takes_adds), {
            stored[b]: stored[b].plus(e),
            rotten[b]: rotten[b].minus(e),
            accepted[b]: accepted[b].plus(e),
            bookie_lac[b]: maximum(bookie_lac[b], carried[e]),
        }

    @p.step(by="writer", b=bookie, e=entry, fair=True)
    def ack(b: int, e: int) -> Any:
        """The bookie's acknowledgement reaches the writer while it waits for the entry and still counts on the bookie.

        That of a bookie that has left the write set is void: neither readers nor recovery will look for the entry there.
        """
        from_write_set = True if p.has("replaced_acks_kept") else writers.holds(b, e)
        awaited = And(sent >= e, Not(confirmed.has(e)), Not(acked[b].has(e)), from_write_set)
        return And(writer_lives(), accepted[b].has(e), awaited), {acked[b]: acked[b].plus(e)}

    @p.step(by="writer", e=entry, fair=True)
    def confirm(e: int) -> Any:
        """The next entry is confirmed to the application: an ack quorum has it. This waits while the ensemble changes.

        It is the next one, because recovery takes all up to the last add confirmed for stored. The ack quorum is one of the
        write set that the metadata name, because copies anywhere else are not found again; until a change is in force, which
        that is remains open.
        """
        counts = [
            acked[b].has(e)
            if p.has("replaced_acks_kept") or p.has("confirms_while_changing")
            else And(acked[b].has(e), writers.holds(b, e))
            for b in bookie
        ]
        is_next = And(lac < e, Not(confirmed.has(e))) if p.has("confirms_with_gaps") else lac == e - 1
        may_confirm = writer_lives() if p.has("confirms_while_changing") else writer == "writing"
        return And(may_confirm, is_next, sent >= e, at_least(ack_quorum, counts)), {
            lac: e,
            confirmed: confirmed.plus(e),
            **{acked[b]: acked[b].minus(e) for b in bookie},
        }

    @p.step(by="writer", spends="changes", o=bookie, n=bookie)
    def replace(o: int, n: int) -> Any:
        """A pending add to bookie o fails or times out: the writer wants bookie n in its place, from entry LAC + 1 on.

        It changes its own copy of the ensembles and asks the store to do the same. There is a reason only if an entry waits for
        o; n is not in the ensemble yet. What is confirmed stays where it is stored, so the change begins after it.
        """
        waits_for_it = any_of(And(lac < e, e <= sent, writers.holds(o, e)) for e in entry)
        asked = "changed" if p.has("change_not_committed") else "changing"
        return And(o != n, writer == "writing", waits_for_it, writers.may_replace(o, n, lac + 1)), {
            writer: asked,
            **writers.replaced(o, n, lac + 1),
        }

    @p.step(by="store", fair=True, only_if=changes)
    def publish_change() -> Any:
        """The store replaces the ensembles, if the metadata are still those that the writer knows.

        Recovery raises their version before it asks any bookie, so that from then on the writer cannot go to bookies of which
        recovery does not know.
        """
        is_current = True if p.has("change_ignores_version") else version == writer_version
        return And(writer == "changing", is_current, may_update), {
            writer: "changed",
            status: "open",  # the metadata are written as a whole, as the writer knows them
            **published.copied_from(writers),
            **after_update(),
        }

    @p.step(by="writer", fair=True, only_if=changes)
    def resend() -> Any:
        """The writer learns that its change is in force.

        Acknowledgements of the bookie that left are void; the one that joined is sent what is not confirmed yet.
        """

        def pending(b: int) -> Any:
            result = requested[b]
            for e in entry:
                result = If(And(lac < e, e <= sent, writers.holds(b, e)), result.plus(e), result)
            return result

        def kept(b: int) -> Any:
            result = acked[b]
            for e in entry:
                result = If(writers.holds(b, e), result, result.minus(e))
            return result

        keeps = p.has("replaced_acks_kept")
        return And(writer == "changed", writer_version < versions), {
            writer: "writing",
            writer_version: writer_version if p.has("change_not_committed") else writer_version + 1,
            **{requested[b]: pending(b) for b in bookie},
            **({} if keeps else {acked[b]: kept(b) for b in bookie}),
        }

    @p.step(by="writer", fair=True)
    def close() -> Any:
        """The writer closes at its last add confirmed: asked to, an add is hopeless, or no bookie can replace a failed one.

        It does so over a recovery in progress as well (LedgerHandle.doAsyncCloseInternal: only CLOSED stops it, because an end
        that was published may have been relied on).
        """
        not_closed = True if p.has("writer_closes_blindly") else status.among("open", "in_recovery")
        return And(writer_lives(), not_closed, may_update), {
            writer: "closed",
            status: "closed",
            last: lac,
            **{acked[b]: () for b in bookie},
            **after_update(),
        }

    @p.step(by="writer", fair=True)
    def find_closed() -> Any:
        """The writer finds the ledger closed: at its own last add confirmed that is success, at another end an error."""
        return And(writer_lives(), status == "closed"), {
            writer: If(last == lac, "closed", "failed"),
            **{acked[b]: () for b in bookie},
        }

    @p.step(by="writer", spends="explicit_lacs", b=bookie)
    def send_explicit_lac(b: int) -> Any:
        """The writer tells a bookie its last add confirmed without an entry, and the bookie keeps it.

        It goes to bookies of the last ensemble that know of less.
        """
        return And(writer == "writing", up[b], writers.in_last(b), explicit_lac[b] < lac), {explicit_lac[b]: lac}

    # --- the bookies

    @p.fault(by="b", spends="crashes", b=bookie)
    def crash(b: int) -> Any:
        """The bookie stops. What it has journaled (entries and fences) stays; while it is down it does nothing."""
        volatile: dict[Any, Any] = {}
        if p.has("fence_not_durable"):
            volatile[fenced[b]] = False
        if p.has("explicit_lac_lost"):
            volatile[explicit_lac[b]] = -1
        return up[b], {up[b]: False, **volatile}

    @p.step(by="b", b=bookie, fair=True, only_if=crashes)
    def restart(b: int) -> Any:
        """The bookie comes back with its data."""
        return Not(up[b]), {up[b]: True}

    @p.fault(by="b", spends="losses", b=bookie, keep=range(entries + 1))
    def lose(b: int, keep: int) -> Any:
        """The bookie comes back with only its entries below ``keep``: no journal and an unclean stop, or (0) an empty disk.

        It may have lost entries and fences, so its open ledgers are fenced, and in limbo: of what it does not hold it says
        that it does not know.
        """
        as_if_whole = p.has("empty_disk_counts_as_heard") and keep == 0
        kept = stored[b]
        for e in range(keep, entries):
            kept = kept.minus(e)
        kept_lac = maximum(-1, *(If(stored[b].has(e), carried[e], -1) for e in range(keep)))
        return up[b], {
            stored[b]: kept,
            rotten[b]: rotten[b] & kept,
            bookie_lac[b]: kept_lac,
            explicit_lac[b]: -1,
            fenced[b]: not (p.has("limbo_not_fenced") or as_if_whole),
            limbo[b]: not (p.has("limbo_answers_missing") or as_if_whole),
        }

    @p.fault(by="b", spends="rots", b=bookie, e=entry)
    def rot(b: int, e: int) -> Any:
        """The bookie's copy of an entry goes bad on its disk; whoever reads it finds that the digest does not match."""
        return And(stored[b].has(e), Not(rotten[b].has(e))), {rotten[b]: rotten[b].plus(e)}

    @p.step(by="store", spends="deletions")
    def delete() -> Any:
        """The closed ledger is deleted from the metadata."""
        return And(status == "closed", may_update), {status: "deleted", **after_update()}

    @p.step(by="b", b=bookie, fair=True, only_if=deletions)
    def collect(b: int) -> Any:
        """The bookie drops the entries of a deleted ledger; that it is fenced stays known.

        Otherwise an add that arrives late would be accepted, and acknowledged, as that of a new ledger.
        """
        forgotten = {fenced[b]: False} if p.has("fence_forgotten_on_delete") else {}
        return And(up[b], status == "deleted", Not(stored[b].is_empty)), {stored[b]: (), rotten[b]: (), **forgotten}

    # --- recovery

    def write_set_read(r: int, b: int) -> Any:
        source = recovered[r] if p.has("reads_follow_current_ensemble") else at_start[r]
        return source.holds(b, next_entry[r])

    threshold = write_quorum - ack_quorum + 1
    if p.has("one_missing_suffices"):
        threshold = 1
    if p.has("missing_threshold_too_low"):
        threshold = max(threshold - 1, 1)

    def at_end(r: int) -> Any:
        """So many bookies have denied the entry that it can never have been confirmed: the ledger ends before it.

        Without write quorum - ack quorum + 1 of the write set, too few are left for an ack quorum.
        """
        denied = at_least(threshold, (And(missing[r].has(b), write_set_read(r, b)) for b in bookie))
        return And(phase[r] == "reading", Or(next_entry[r] == entries, denied))

    def fence_at(b: int, *, by_read: bool = False) -> dict[Any, Any]:
        if by_read and p.has("recovery_reads_do_not_fence"):
            return {}
        if p.has("no_fence_on_unknown_ledger"):
            return {fenced[b]: Or(fenced[b], Not(stored[b].is_empty))}
        return {fenced[b]: True}

    @p.step(by="r", r=recoverer, fair=True)
    def recover(r: int) -> Any:
        """A client opens the ledger with recovery: it marks it IN_RECOVERY, unless it is, and keeps a copy of the metadata.

        The mark raises the version, so that no change of ensemble by the writer gets through any more: the copy stays true.
        """
        marked = {status: "in_recovery", version: If(status == "open", version + 1, version)}
        if p.has("recovery_not_marked"):
            marked = {}
        return And(phase[r] == "idle", status.among("open", "in_recovery"), may_update), {
            phase[r]: "fencing",
            next_entry[r]: 1 if p.has("lac_search_starts_at_zero") else 0,
            recovery_version[r]: marked.get(version, version),
            **recovered[r].copied_from(published),
            **at_start[r].last_copied_from(published),
            **marked,
        }

    @p.step(by="r", r=recoverer, b=bookie, fair=True)
    def read_lac(r: int, b: int) -> Any:
        """The bookie fences the ledger, and its last add confirmed reaches the recovery; in limbo it gives no answer.

        The bookies of the last ensemble are asked, to which new adds go; each of them counts once.
        """
        return And(phase[r] == "fencing", up[b], Not(limbo[b]), at_start[r].in_last(b), Not(heard[r].has(b))), {
            heard[r]: heard[r].plus(b),
            next_entry[r]: maximum(next_entry[r], bookie_lac[b] + 1),
            **fence_at(b),
        }

    @p.step(by="r", r=recoverer, b=bookie)
    def fence_unheard(r: int, b: int) -> Any:
        """The bookie fences the ledger for a recovery, and its answer is lost or comes too late.

        Requests are under way as soon as the recovery has begun, and may arrive whatever it does by then.
        """
        by_read = phase[r] == "reading" if p.has("recovery_reads_do_not_fence") else False
        asks = And(phase[r] != "idle", Not(by_read))
        return And(asks, up[b], at_start[r].in_last(b), Not(fenced[b])), fence_at(b)

    @p.step(by="r", r=recoverer, fair=True)
    def start_reading(r: int) -> Any:
        """So many bookies are fenced that no new add can gather an ack quorum: recovery reads from the entry after the LAC.

        In no write set of the last ensemble are an ack quorum unheard of. With fewer answers the writer could go on, and have
        entries confirmed beyond the end that recovery is about to find.
        """
        enough = at_start[r].covered_by(heard[r].has, ack_quorum)
        if p.has("fencing_waits_for_one"):
            enough = Not(heard[r].is_empty)
        if p.has("fencing_waits_for_none"):
            enough = Or(True)
        begin = maximum(next_entry[r], recovered[r].last_first())  # what comes before the last ensemble is confirmed
        return And(phase[r] == "fencing", enough), {
            phase[r]: "reading",
            next_entry[r]: begin,
            heard[r]: (),
        }

    @p.step(by="r", r=recoverer, b=bookie, fair=True)
    def read_found(r: int, b: int) -> Any:
        """A bookie of the write set has the entry: one copy whose digest matches recovers it. The read fences too.

        It fences because a bookie that the fencing phase did not hear may accept the add after the read. The write set is that
        of the ensemble at the start: one that recovery has put in its place holds only what recovery wrote again itself.
        """
        readable = True if p.has("digest_unchecked") else Not(rotten[b].has(next_entry[r]))
        asked = And(phase[r] == "reading", Not(at_end(r)), up[b], write_set_read(r, b))
        at_hand = And(asked, stored[b].has(next_entry[r]), readable)
        goes_on = p.has("closes_before_write_back")
        return at_hand, {
            phase[r]: "reading" if goes_on else "rewriting",
            next_entry[r]: If(next_entry[r] < entries, next_entry[r] + 1, next_entry[r]) if goes_on else next_entry[r],
            missing[r]: (),
            found[r]: found[r].plus(next_entry[r]),
            spoiled[r]: rotten[b].has(next_entry[r]),
            **fence_at(b, by_read=True),
        }

    @p.step(by="r", r=recoverer, b=bookie, fair=True)
    def read_missing(r: int, b: int) -> Any:
        """A bookie of the write set answers NoSuchEntry; a bookie in limbo does not. The read fences too.

        A denial counts once, and only if it is true and stays true: a bookie in limbo may have had the entry and lost it, and
        one that is not fenced could accept it afterwards.
        """
        denies = And(Not(stored[b].has(next_entry[r])), Not(limbo[b]))
        if p.has("denies_what_it_has"):
            denies = Not(limbo[b])
        asked = And(phase[r] == "reading", Not(at_end(r)), up[b], write_set_read(r, b), Not(missing[r].has(b)))
        return And(asked, denies), {missing[r]: missing[r].plus(b), **fence_at(b, by_read=True)}

    @p.step(by="r", r=recoverer, b=bookie, only_if=p.has("unknown_counts_as_missing"))
    def read_unanswered(r: int, b: int) -> Any:
        """A bookie does not answer a read, and the recovery counts it among those that do not have the entry."""
        asked = And(phase[r] == "reading", Not(at_end(r)), write_set_read(r, b), Not(missing[r].has(b)))
        return asked, {missing[r]: missing[r].plus(b)}

    @p.step(by="r", r=recoverer, b=bookie, fair=True)
    def rewrite(r: int, b: int) -> Any:
        """The entry found is written again to a bookie of its write set, past the fence, and the acknowledgement is heard.

        The write set is that of recovery's own copy of the ensembles, which it publishes when it closes.
        """
        asked = And(phase[r] == "rewriting", up[b], recovered[r].holds(b, next_entry[r]), Not(rewritten[r].has(b)))
        here = next_entry[r]
        return And(asked, here < entries), {
            stored[b]: stored[b].plus(here),
            rotten[b]: If(spoiled[r], rotten[b].plus(here), rotten[b].minus(here)),
            bookie_lac[b]: maximum(bookie_lac[b], here - 1),  # to a recovery the entry before is confirmed
            rewritten[r]: rewritten[r].plus(b),
        }

    @p.step(by="b", r=recoverer, b=bookie, e=entry)
    def late_rewrite(r: int, b: int, e: int) -> Any:
        """An entry that recovery writes again arrives with its acknowledgement lost, or when recovery has long gone on."""
        asked = Or(recovered[r].holds(b, e), at_start[r].holds(b, e))
        is_news = Or(Not(stored[b].has(e)), bookie_lac[b] < e - 1)
        return And(up[b], found[r].has(e), asked, is_news), {
            stored[b]: stored[b].plus(e),
            bookie_lac[b]: maximum(bookie_lac[b], e - 1),
        }

    @p.step(by="r", r=recoverer, fair=True)
    def recovered_entry(r: int) -> Any:
        """An ack quorum has the entry again: recovery goes on to the next one.

        It may have been on one bookie only. Closed over that, the ledger would have an entry that one lost disk takes away.
        """
        enough = at_least(ack_quorum, (And(rewritten[r].has(b), recovered[r].holds(b, next_entry[r])) for b in bookie))
        return And(phase[r] == "rewriting", next_entry[r] < entries, enough), {
            phase[r]: "reading",
            next_entry[r]: next_entry[r] + 1,
            rewritten[r]: (),
        }

    @p.step(by="r", spends="changes", r=recoverer, o=bookie, n=bookie)
    def replace_in_recovery(r: int, o: int, n: int) -> Any:
        """Writing the entry again to bookie o fails: recovery puts bookie n in its place, from this entry on.

        It does so in its own copy of the ensembles only, until it closes the ledger: another recovery that reads where this one
        meant to write would find nothing there. Earlier entries were not written to n, so the change does not cover them.
        """
        at = next_entry[r]
        if p.has("recovery_ensemble_starts_early"):
            at = If(next_entry[r] > recovered[r].last_first(), next_entry[r] - 1, next_entry[r])
        failed = And(recovered[r].holds(o, next_entry[r]), Not(rewritten[r].has(o)))
        changed = recovered[r].replaced(o, n, at)
        if p.has("recovery_publishes_at_once"):
            changed |= recovered[r].replaced(o, n, at, into=published)
        return And(o != n, phase[r] == "rewriting", failed, recovered[r].may_replace(o, n, at)), changed

    @p.step(by="r", r=recoverer, fair=True)
    def close_recovered(r: int) -> Any:
        """Recovery closes the ledger before the entry that it could not find, if the metadata are still those that it knows.

        Its changes of ensemble become known with this. If the ensembles have changed meanwhile it fails, that is, stops here:
        what it read, and where, is no longer what the metadata say.
        """
        done = at_end(r)
        if p.has("closes_at_lac"):
            done = phase[r] == "reading"
        is_current = And(version == recovery_version[r], status.among("open", "in_recovery"))
        if p.has("recovery_closes_blindly"):
            is_current = status != "deleted"
        return And(done, is_current, may_update), {
            phase[r]: "done",
            missing[r]: (),
            status: "closed",
            last: next_entry[r] - 1,
            **published.copied_from(recovered[r]),
            **after_update(),
        }

    @p.step(by="r", r=recoverer, fair=True)
    def adopt_end(r: int) -> Any:
        """Recovery wants to close and finds the ledger closed: that end is the end."""
        return And(at_end(r), status == "closed"), {phase[r]: "done", missing[r]: (), next_entry[r]: last + 1}

    # --- readers

    @p.step(by="l", l=reader, e=entry)
    def read_tail(l: int, e: int) -> Any:  # noqa: E741
        """A reader that polls bookies for the last add confirmed, or knows the ledger's end, reads up to entry e.

        What lies beyond both it leaves alone: an entry that is merely stored may turn out not to be in the ledger.
        """
        hears_of_it = Or(
            And(status == "closed", e <= last),
            any_of(And(up[b], Or(e <= bookie_lac[b], e <= explicit_lac[b])) for b in bookie),
        )
        gets_it = any_of(And(up[b], stored[b].has(e), Not(rotten[b].has(e)), published.holds(b, e)) for b in bookie)
        return And(read_to[l] < e, status != "deleted", hears_of_it, gets_it), {read_to[l]: e}

    return p
