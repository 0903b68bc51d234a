"""A position and the ranges behind it: how many ranges there are, and what is written of them.

Mirrors setAcknowledgedPosition, isCursorDataFullyPersistable, buildIndividualDeletedMessageRanges and
persistPositionToLedger of ManagedCursorImpl.
"""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.language import And, If, Not, Number, Or, Protocol, Subset, Truth, how_many
from fencepost.model.terms.values import subset_where


def exceeds_limit(settings: Mapping[str, int | bool | str]) -> bool:
    """Whether there can be more ranges than are stored. The first message is open, or the position would move."""
    messages, capacity, limit = (int(settings[name]) for name in ("messages", "capacity", "limit"))
    ledgers = [min(capacity, messages - first) for first in range(0, messages, capacity)]
    ranges = [entries // 2 if n == 0 else (entries + 1) // 2 for n, entries in enumerate(ledgers)]
    beyond = sum(ranges) > limit + bool(settings["one_above"])
    if not settings["long_arrays"]:
        return beyond
    # a cursor that is closed may write the node, which has ranges
    in_node = not limit or int(settings["node_limit"]) >= sum(ranges) or int(settings["unloads"]) + int(settings["crashes"]) > 1
    in_arrays = sum(ranges if settings["counts_own"] else ranges[:-1]) > limit
    return in_arrays or bool(settings["unloads"] and beyond and in_node)


class Ranges:
    """Positions and acknowledged messages of an instance, of which nothing is a variable."""

    def __init__(self, p: Protocol) -> None:
        self.protocol = p
        self.messages, self.capacity = int(p.parameters["messages"]), int(p.parameters["capacity"])

    def before(self, position: Number | int) -> Subset:
        """The messages before a position."""
        return subset_where(self.messages, lambda m: position > m)

    def covers(self, mark: Number | int, acked: Subset) -> Subset:
        """What a position and ranges say is acknowledged."""
        return self.before(mark) | acked

    def range_count(self, acked: Subset, upto: int | None = None) -> Number:
        """How many ranges begin up to a message, or at all; the first of a ledger begins one."""
        last = self.messages if upto is None else upto + 1
        return how_many(*(self._begins(acked, m) for m in range(last)))

    def _begins(self, acked: Subset, m: int) -> Truth:
        return And(acked.has(m), Not(acked.has(m - 1))) if m % self.capacity else acked.has(m)

    def is_within(self, limit: str, acked: Subset) -> Truth:
        """The formula: there are no more ranges than that (ManagedCursorImpl.isCursorDataFullyPersistable)."""
        most = int(self.protocol.parameters[limit])
        return True if most >= self.messages else self.range_count(acked) <= most

    def kept(self, acked: Subset, *, in_node: bool = False) -> Subset:
        """What is written of the ranges: buildIndividualDeletedMessageRanges, and with long arrays toRanges of
        OpenLongPairRangeSet or PositionRangeSet, which keeps or leaves out a whole ledger."""
        limit = int(self.protocol.parameters["limit"])
        most = limit + bool(self.protocol.parameters["one_above"])
        if limit >= self.messages:
            return acked
        ranges = subset_where(self.messages, lambda m: And(acked.has(m), self.range_count(acked, m) <= most))
        if in_node or not self.protocol.parameters["long_arrays"]:
            return ranges
        by_entry = self.protocol.has("limit_counts_entries")
        own = bool(self.protocol.parameters["counts_own"])

        def counted(m: int) -> Number:
            first = m - m % self.capacity
            end = min(first + self.capacity, self.messages) if own else first
            return how_many(*(acked.has(e) if by_entry else self._begins(acked, e) for e in range(end)))

        ledgers = subset_where(self.messages, lambda m: And(acked.has(m), counted(m) <= limit))
        if not own:
            return ledgers
        return subset_where(self.messages, lambda m: Or(ledgers.has(m), And(ledgers.is_empty, ranges.has(m))))

    def advanced(self, mark: Number, acked: Subset) -> tuple[Number, Subset]:
        """ManagedCursorImpl.setAcknowledgedPosition: the position moves over what is acknowledged, and takes that in."""
        moved: Number = mark
        for m in range(self.messages):
            moved = If(And(moved == m, acked.has(m)), m + 1, moved)
        return moved, acked & ~self.before(moved)
