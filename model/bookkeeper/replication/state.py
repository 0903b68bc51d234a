"""What there is of a ledger that is replicated: its metadata and copies, its task and lock, and what each worker knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

from fencepost.model.language import (
    ABSENT,
    And,
    Choice,
    Condition,
    Family,
    If,
    Implies,
    Not,
    Or,
    Protocol,
    Subset,
    Truth,
    Updates,
    all_of,
    any_of,
    either,
)
from fencepost.model.language.effects import Effect
from fencepost.model.nobody import NOBODY
from fencepost.model.stand_ins.written_ledger import WrittenLedger

Phase = Literal["idle", "checking", "choosing", "checking_again", "failed", "grace", "clean", "stopped"]
PHASES: tuple[Phase, ...] = get_args(Phase)
Cut = Literal["no", "store", "clients"]
CUTS: tuple[Cut, ...] = get_args(Cut)
Switch = Literal["on", "disabled", "enabled"]
SWITCH: tuple[Switch, ...] = get_args(Switch)


class State:
    """The variables of an instance, and the formulas and updates that several steps have in common.

    ``member`` is the list of places of the ensemble. ``stored`` are the entries of which a bookie has a copy, ``rotten`` those
    of them whose digest is wrong. ``gone`` says that a disk was lost, ``limbo`` that a bookie answers "unknown" where it would
    deny an entry, ``needs_check`` that its integrity check is not done, ``cached`` whom the metadata named as it booted.

    ``handle`` is the ensemble as a client has it that has had the ledger open since the beginning.

    ``cut`` is whether a bookie that is up is cut off from the metadata store, or from clients.

    ``task`` is the node of the under-replicated ledger, ``task_version`` its version, ``missing`` the replicas that it lists;
    ``audited`` are the bookies whose present absence the auditor has looked at: those that are not in Auditor.knownBookies.
    ``starting`` says that a new auditor has not made its first check. ``switch`` is whether an operator has disabled
    auto-recovery. ``surplus`` are the bookies whose collector has read that no metadata name them, ``decommissions_wait``
    those that a command waits for. ``loaded`` says that a bookie has got a copy since it started, and ``refuses`` that it has
    deleted the ledger after that.

    Of a worker, or a run of the command ``recover``, ``seen`` is the version of the task, ``excluded`` the ensemble as it was
    checked, ``bad`` the bookies that are to be replaced, ``moves`` by whom, ``copied`` the entries that the new bookies have
    acknowledged. ``zombie`` is a worker whose session is gone, and which does not know.
    """

    def __init__(
        self,
        p: Protocol,
        *,
        workers: int,
        commands: int,
        opened: bool,
        collects: bool,
        integrity: bool,
        emptied: bool,
        disable: str,
        rots: int,
        marks: int,
        elections: int,
        handle: bool,
        cuts: int,
    ) -> None:
        bookie, entry, place, worker = (p.universes[name] for name in ("bookie", "entry", "place", "worker"))
        self.protocol, self.bookie, self.entry, self.place, self.worker = p, bookie, entry, place, worker
        self.locking, self.commanded = range(workers), range(workers, workers + commands)
        self.opened, self.collects, self.integrity, self.disable = opened, collects, integrity, disable
        self.emptied = emptied
        first = [0] if opened else list(entry)

        self.ledger = p.include("", WrittenLedger, entry, written=len(first), closed=not opened)
        self.status, self.confirmed = self.ledger.status, self.ledger.confirmed
        self.member = p.choice("member", bookie, per=place, init=lambda i: i)

        self.handle: Family[Choice[int]] | None = p.choice("handle", bookie, per=place, init=lambda i: i) if handle else ABSENT

        self.up = p.flag("up", per=bookie, init=True)
        self.cut: Family[Choice[Cut]] | None = p.choice("cut", CUTS, per=bookie) if cuts else ABSENT
        self.gone = p.flag("gone", per=bookie)
        self.stored = p.subset("stored", entry, per=bookie, init=lambda b: first if b < place.size else [])
        self.rotten: Family[Subset] = p.subset("rotten", entry, per=bookie) if rots else ABSENT
        self.limbo: Family[Condition] = p.flag("limbo", per=bookie) if integrity else ABSENT
        self.needs_check: Family[Condition] = p.flag("needs_check", per=bookie) if integrity else ABSENT
        by_boot = p.has("refill_by_boot_metadata") and integrity
        self.cached: Family[Subset] = p.subset("cached", bookie, per=bookie) if by_boot else ABSENT

        self.task = p.flag("task")
        self.versions = max(marks, 1)
        self.task_version = p.number("task_version", 0, self.versions)
        self.missing = p.subset("missing", bookie)
        self.audited = p.flag("audited", per=bookie)
        self.starting: Condition | None = p.flag("starting") if elections else ABSENT
        collectors = (f"gc{b}" for b in bookie if collects)
        self.lock = p.choice("lock", (NOBODY, *(f"w{w}" for w in self.locking), *collectors))
        self.surplus: Family[Condition] = p.flag("surplus", per=bookie) if collects else ABSENT
        refusing = collects and p.has("collected_is_refused")
        self.loaded: Family[Condition] = p.flag("loaded", per=bookie, init=lambda b: b < place.size) if refusing else ABSENT
        self.refuses: Family[Condition] = p.flag("refuses", per=bookie) if refusing else ABSENT
        self.switch: Choice[Switch] = p.choice("switch", SWITCH) if disable != "no" else ABSENT
        self.decommissions = p.subset("decommissions_wait", bookie)

        self.phase = p.choice("phase", PHASES, per=worker)
        self.zombie = p.flag("zombie", per=worker)
        self.seen = p.number("seen", 0, self.versions, per=worker)
        self.excluded = p.subset("excluded", bookie, per=worker)
        self.bad = p.subset("bad", bookie, per=worker)
        self.moves = p.choice("moves", bookie, per=(worker, bookie), none="none")
        self.copied = p.subset("copied", entry, per=worker)
        open_too = p.has("open_fragment_replicated") and opened
        self.known: Family[Subset] = p.subset("known", entry, per=worker) if open_too else ABSENT

    # --- the ledger and its copies

    def registered(self, b: int) -> Condition:
        """The bookie is up and the metadata store knows it: it is nobody's that is away."""
        return self.up[b] if self.cut is None else And(self.up[b], self.cut[b] != "store")

    def reached(self, b: int) -> Condition:
        """The bookie is up, and clients reach it."""
        return self.up[b] if self.cut is None else And(self.up[b], self.cut[b] != "clients")

    def named(self, b: int) -> Condition:
        """The metadata name the bookie."""
        return any_of(self.member[i] == b for i in self.place)

    def has_good(self, b: int, e: int) -> Condition:
        """The bookie has a copy of the entry whose digest is right."""
        return And(self.stored[b].has(e), True if self.rotten is None else Not(self.rotten[b].has(e)))

    def readable(self, e: int) -> Condition:
        """A member that is up has a good copy: a read by the handle tries them all, and checks digests."""
        return any_of(And(self.named(b), self.reached(b), self.has_good(b, e)) for b in self.bookie)

    def stores(self, b: int, e: int, where: Truth = True, *, rotten: Truth = False) -> Updates:
        """The bookie gets a copy of the entry where the condition holds, a good one unless the source is rotten."""
        updates: Updates = {self.stored[b]: If(where, self.stored[b].plus(e), self.stored[b])}
        if self.rotten is not None:
            whole = If(rotten, self.rotten[b].plus(e), self.rotten[b].minus(e))
            updates[self.rotten[b]] = If(where, whole, self.rotten[b])
        return updates

    def added_where(self, where: Callable[[int], Truth], e: int) -> Updates:
        """A client adds the entry to each bookie of which the condition holds: it gets a good copy."""
        copies = {variable: value for b in self.bookie for variable, value in self.stores(b, e, where(b)).items()}
        if self.loaded is None:
            return copies
        return copies | {self.loaded[b]: Or(self.loaded[b], where(b)) for b in self.bookie}

    def forgets_all(self, b: int, where: Truth = True) -> Updates:
        """The bookie has no copy of the ledger any more, where the condition holds."""
        copies = [self.stored] if self.rotten is None else [self.stored, self.rotten]
        return {of[b]: If(where, (), of[b]) for of in copies}

    def closes(self, where: Truth = True) -> Effect:
        """A recovery closes the ledger with what is confirmed where the condition holds, unless it is closed."""
        return either(And(self.status == "open", where), self.ledger.end(0), {})

    # --- the workers

    def is_target(self, w: int, b: int) -> Condition:
        """The worker has chosen the bookie."""
        return any_of(self.moves[w, o] == b for o in self.bookie)

    def all_chosen(self, w: int) -> Condition:
        """The worker has chosen a bookie for each that is bad."""
        return all_of(Implies(self.bad[w].has(o), self.moves[w, o] != "none") for o in self.bookie)

    def fragment(self, w: int) -> Subset:
        """The entries that the worker copies: up to the last that it knows to be confirmed."""
        return self.confirmed if self.known is None else self.known[w]

    def begins(self, w: int, bad: Subset) -> Updates:
        """The worker begins to replace the bookies, in the ensemble as it is now."""
        known = {} if self.known is None else {self.known[w]: self.confirmed}
        return {self.phase[w]: "choosing", self.bad[w]: bad, self.excluded[w]: self.bookie.where(self.named), **known}

    def forgets_work(self, w: int) -> Updates:
        """The worker has done with the fragment."""
        known = {} if self.known is None else {self.known[w]: ()}
        none = {self.moves[w, o]: "none" for o in self.bookie}
        return {self.bad[w]: (), self.excluded[w]: (), self.copied[w]: (), **none, **known}

    def process_gone(self, b: int) -> Updates:
        """The bookie's process has ended: its session with its collector's lock, and what it has in memory."""
        if not self.collects:
            return {}
        memory = {} if self.loaded is None else {self.loaded[b]: False, self.refuses[b]: False}
        return {self.lock: If(self.lock == f"gc{b}", NOBODY, self.lock), self.surplus[b]: False, **memory}

    def is_enabled(self) -> Truth:
        """Auto-recovery is not disabled."""
        return True if self.switch is None else self.switch != "disabled"

    def any_works(self) -> Condition:
        """A worker of auto-recovery has a task under way."""
        return Or(*(self.phase[w] != "idle" for w in self.locking))
