"""The entry logs of a bookie: which entries are in which file, what the collector reads of one, and which it deletes.

Mirrors DefaultEntryLogger, EntryLoggerAllocator, EntryLogManagerBase, EntryLogCompactor, GarbageCollectorThread and
LocationsIndexRebuildOp of bookkeeper-server 4.16.6 and 4.17.3, over a DbLedgerStorage with one directory.

A save writes what is in the write cache to the current log: also what is in another log already, where replay has read it again
or a recovery has written it back. A log that is full gets a map of its ledgers at its end, and its header says where; one that
was current when the process ended gets none, and is read as a whole instead. The index names the last log that has an entry.
The collector deletes a log of which the bookie knows no ledger. A compaction copies all that a log has of ledgers that the
bookie knows to the current one, names it there, and deletes the log. A rebuild, while the bookie is down, makes the index of
the logs that there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fencepost.model.bookkeeper.bookie_variables import BookieVariables
from fencepost.model.bookkeeper.journal import Saved
from fencepost.model.language import And, Condition, If, Not, Outcome, Protocol, Subset, Updates, all_of, any_of

EVENTS = ("rotations", "collector_looks", "compactions", "rebuilds")
"""What happens to entry logs, by the parameters that say how often; without any of these no log is modelled."""
_ENDS = ("kills", "power_losses", "stops")


def are_modelled(parameters: Mapping[str, int]) -> bool:
    """Whether an instance has entry logs."""
    return any(parameters[event] for event in EVENTS)


def declare_logs(p: Protocol) -> None:
    """The variables of the entry logs: a log for each rotation, and for each time that the process begins again."""
    number = 1 + p.parameters["rotations"] + sum(p.parameters[end] for end in _ENDS)
    log = p.universe("log", number, names=[f"log{g}" for g in range(number)])
    p.subset("copies", p.universes["entry"], per=(log, p.universes["ledger"]))
    p.subset("cached", p.universes["entry"], per=p.universes["ledger"])
    p.flag("mapped", per=log)
    p.flag("deleted", per=log)
    p.number("current", 0, log.size - 1)


class EntryLogs:
    """The entry logs in a protocol that has declared them."""

    def __init__(self, p: Protocol) -> None:
        s = BookieVariables.now(p)
        self.log, self.ledger, self.entry = (p.universes[name] for name in ("log", "ledger", "entry"))
        self.copies, self.mapped, self.deleted, self.current = s.copies, s.mapped, s.deleted, s.current

    def writes(self, of: int, entries: Subset) -> Updates:
        """These entries of a ledger go to the current log."""
        added = {g: self.copies[g, of] | entries for g in self.log}
        return {self.copies[g, of]: If(self.current == g, added[g], self.copies[g, of]) for g in self.log}

    def is_located(self, g: int, of: int, e: int) -> Condition:
        """The last log that has the entry is this one: the index names it."""
        return And(self.copies[g, of].has(e), *(Not(self.copies[later, of].has(e)) for later in self.log if later > g))

    def located(self, g: int, of: int) -> Subset:
        """The entries of a ledger that the index names in this log."""
        return self.entry.where(lambda e: self.is_located(g, of, e))

    def is_there(self, of: int, e: int) -> Condition:
        """The entry is in a log that has not been deleted."""
        return any_of(And(self.copies[g, of].has(e), Not(self.deleted[g])) for g in self.log)

    def found(self, of: int) -> Subset:
        """The entries of a ledger that are in a log that has not been deleted."""
        return self.entry.where(lambda e: self.is_there(of, e))

    def may_begin_again(self) -> Condition:
        """There is a log left to write, which is always so."""
        return self.current < self.log.size - 1

    def begins_again(self) -> Updates:
        """The process begins again: it writes to a log of its own, and the one before gets no map."""
        return {self.current: self.current + 1}


def declare_steps_of_logs(p: Protocol, saved: Saved, is_known: Callable[[int], Condition]) -> None:
    """The steps of entry logs, in a protocol whose storage says of which ledgers its index knows."""
    s, logs = BookieVariables.now(p), EntryLogs(p)
    log, ledger, entry = logs.log, logs.ledger, logs.entry
    up = s.stage == "up"

    def is_full_log(g: int) -> Condition:
        """The log is none that is written, and its file is there."""
        return And(g < logs.current, Not(logs.deleted[g]))

    @p.rule
    def is_found(g: int, of: int) -> Condition:
        """What the collector reads of a log names the ledger: its map or, where it has none, all of its entries."""
        return Not(logs.copies[g, of].is_empty)

    is_found.instead("log_header_has_remains", lambda g, of: And(logs.mapped[g], Not(logs.copies[g, of].is_empty)))

    def gone_with(g: int, of: int) -> Updates:
        """What a ledger loses with the file of a log: all that the index names there."""
        return {x[of]: x[of] & ~logs.located(g, of) for x in (s.stored, saved.entries)}

    @p.step(by="sync", spends="rotations", mirrors="EntryLogManagerBase.createNewLog")
    def rotate() -> Outcome:
        """The current log is full: it gets a map of its ledgers, and the next one begins."""
        ends = sum(p.parameters[end] for end in _ENDS) - sum(getattr(s, end) for end in _ENDS if p.parameters[end])
        has_any = any_of(And(logs.current == g, any_of(Not(logs.copies[g, of].is_empty) for of in ledger)) for g in log)
        mapped: Updates = {logs.mapped[g]: logs.mapped[g] | (logs.current == g) for g in log}
        return And(up, has_any, logs.current + ends < log.size - 1), {**mapped, logs.current: logs.current + 1}

    @p.step(
        by="collector",
        spends="collector_looks",
        mirrors="GarbageCollectorThread.extractMetaFromEntryLogs, GarbageCollectorThread.doGcEntryLogs",
        g=log,
    )
    def collect_log(g: int) -> Outcome:
        """The collector reads which ledgers a log has, of which the bookie knows none: it deletes the log."""
        unknown = all_of(Not(And(is_found(g, of), is_known(of))) for of in ledger)
        lost = {variable: value for of in ledger for variable, value in gone_with(g, of).items()}
        return And(up, is_full_log(g), unknown), {logs.deleted[g]: True, **lost}

    @p.step(by="collector", spends="compactions", mirrors="EntryLogCompactor.compact", g=log)
    def compact(g: int) -> Outcome:
        """What a log has of ledgers that the bookie knows goes to the current one, the index names it there, whether or not it
        named it before, and the log is deleted."""
        live = {of: If(is_known(of), logs.copies[g, of], entry.where(lambda _: False)) for of in ledger}
        moved = {variable: value for of in ledger for variable, value in logs.writes(of, live[of]).items()}
        named = {x[of]: x[of] | live[of] for of in ledger for x in (saved.entries, s.stored)}
        some = any_of(Not(live[of].is_empty) for of in ledger)
        return And(up, is_full_log(g), some), {logs.deleted[g]: True, **moved, **named}

    @p.step(by="operator", spends="rebuilds", mirrors="LocationsIndexRebuildOp.initiate")
    def rebuild_index() -> Outcome:
        """An operator has the index of entries made again of the logs, for the ledgers that a bookie which is down knows."""
        found = {of: logs.found(of) for of in ledger}
        return s.stage == "down", {saved.entries[of]: If(saved.key[of], found[of], saved.entries[of]) for of in ledger}
