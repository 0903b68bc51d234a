"""The variables of ``split`` with their sorts, and words about them that its properties and lemmas share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from fencepost.model.language import And, Choice, Condition, Family, Not, Number, Subset, any_of, at_least
from fencepost.model.pulsar.hash_range import HashRange
from fencepost.model.pulsar.hash_range.algorithms import RANGE
from fencepost.model.pulsar.hash_range.universe import Bundles
from fencepost.model.pulsar.split import Stage
from fencepost.model.pulsar.split_policies import RECORDED
from fencepost.properties.locks.properties import Locks
from fencepost.properties.locks.variables import LockVariables


class SplitVariables(LockVariables):
    """The variables of an instance of ``split``; each has those that its parameters and bugs need."""

    layout: Subset
    layout_version: Number
    layout_change: Family[Condition]
    view: Family[Subset]
    view_version: Family[Number]
    split: Family[Choice[Stage]]
    parent: Family[Choice[int | Literal["nothing"]]]
    children: Family[Subset]
    proposed: Family[Subset]
    based_on: Family[Number]
    attempt: Family[Number]
    splits: Number
    releases: Number
    policies: Subset
    hung: Family[Condition]


@dataclass(frozen=True)
class Splits(Locks):
    """The locks, the layout and the splits of an instance."""

    @property
    def ranges(self) -> Bundles:
        """The bundles that there can be."""
        settings = self.p.parameters
        return Bundles.of(HashRange(settings["hashes"] - 1), settings["algorithm"], settings["bundles"])

    @property
    def cuts(self) -> list[tuple[int, set[int]]]:
        """Every bundle with each two parts that it can be cut into."""
        ranges = self.ranges
        places = ((u, boundary) for u in self.p.universes["bundle"] for boundary in range(self.p.parameters["hashes"]))
        return [(u, parts) for u, boundary in places if (parts := ranges.parts(u, boundary))]

    @property
    def unheard(self) -> bool:
        """Whether a broker that goes on can miss a change of the layout: its own, or one while it has no session."""
        is_away = self.budget("disconnects") or (self.several and self.budget("expiries"))
        return is_away and not self.kind.catches_up

    @property
    def records(self) -> bool:
        """Whether the instance tells what boundaries the policies have."""
        return bool(self.p.parameters.get("policies", False))

    @property
    def misses_policies(self) -> bool:
        """Whether a layout can be written by a broker that does not get to the policies, or does not know that it has to."""
        given_up = self.budget("expiries") and not self.fixed
        return bool(self.budget("splits") and (self.budget("disconnects") or self.budget("crashes") or given_up))

    @property
    def contended(self) -> bool:
        """Whether another split, or the same one if its success went unheard, can come between a split and its parent."""
        splits = self.p.parameters["splits"]
        return (splits > 1 and self.several) or (splits > 0 and self.budget("disconnects"))

    @property
    def stays(self) -> bool:
        """Whether no bundle of the layout changes hands but through its split."""
        return not (self.budget("releases") or self.budget("expiries") or self.budget("crashes"))

    @property
    def meets_nodes(self) -> bool:
        """Whether a broker can look at a node: it meets one on acquiring, or hears of a deletion that is not the last."""
        again = not self.stays or self.budget("unload_after_split")
        return self.several or self.budget("disconnects") or again

    @property
    def forsakes_bundles(self) -> bool:
        """Whether a bundle of the layout can end up with a broker that does not know that it has it."""
        again = self.budget("releases") or (self.budget("unload_after_split") and self.p.parameters["splits"] > 1)
        faults = self.budget("expiries") or self.budget("crashes")
        return self.is_left and (faults or (self.several and again))

    @property
    def strands_bundles(self) -> bool:
        """Whether every broker can be left with a release of one bundle that has failed with its session."""
        settings = self.p.parameters
        given_up = settings["releases"] + (settings["splits"] if settings["unload_after_split"] else 0)
        return not self.fixed and min(settings["expiries"], given_up) >= settings["brokers"]

    @property
    def keeps_parents(self) -> bool:
        """Whether the parent of a split can stay with its broker: the lock is not the one that the split knew."""
        again = self.budget("releases") or self.budget("expiries") or (self.several and self.budget("crashes"))
        return not self.fixed and self.budget("disconnects") and again

    @property
    def keeps_children(self) -> bool:
        """Whether the children of a split are its broker's when the layout is written.

        Upstream: if bundles stay where they are, the store keeps the order of requests, nobody splits by an old copy unawares,
        and every bundle has one boundary, or there are too few splits for a child of one to be within a child of another.
        """
        settings = self.p.parameters
        nested = settings["algorithm"] == RANGE or settings["splits"] < 3
        return self.fixed or (self.stays and settings["in_order"] and not self.budget("disconnects") and nested)

    @property
    def nests_locks(self) -> bool:
        """Whether the children's owner is proved to be the parent's from how their locks nest, where nothing is fixed."""
        nested = self.p.parameters["algorithm"] == RANGE and not self.p.parameters["unload_after_split"]
        return self.keeps_children and not self.fixed and nested

    @property
    def may_exceed(self) -> bool:
        """Whether a namespace can have more bundles than the maximum."""
        return not self.fixed and self.p.parameters["splits"] > 1 and self.several

    @property
    def can_exceed(self) -> bool:
        """Whether there are hashes and splits enough for more bundles than the maximum."""
        settings = self.p.parameters
        return bool(settings["maximum"] < min(settings["bundles"] + settings["splits"], settings["hashes"] - 1))

    def has_more_than(self, count: int, *, besides: Iterable[Condition] = ()) -> Condition:
        """The formula: the layout has more than so many bundles, together with what else holds."""
        return at_least(count + 1, [*(SplitVariables.now(self.p).layout.has(u) for u in self.p.universes["bundle"]), *besides])

    def knows_more_than(self, b: int, count: int) -> Condition:
        """The formula: the broker's copy of the layout has more than so many bundles."""
        return at_least(count + 1, [SplitVariables.now(self.p).view[b].has(u) for u in self.p.universes["bundle"]])

    def covers(self, hash: int) -> Condition:
        """The formula: exactly one bundle of the layout has the hash."""
        having = [SplitVariables.now(self.p).layout.has(u) for u in self.ranges.with_hash(hash)]
        return And(any_of(having), Not(at_least(2, having)))

    def cut(self, u: int, parts: Iterable[int]) -> Subset:
        """The layout with these parts in the place of a bundle."""
        layout = SplitVariables.now(self.p).layout.minus(u)
        for part in parts:
            layout = layout.plus(part)
        return layout

    def was_split(self, u: int) -> Condition:
        """The formula: parts of the bundle are in the layout."""
        return any_of(SplitVariables.now(self.p).layout.has(c) for c in self.ranges.within(u))

    def is_current(self, b: int) -> Condition:
        """The formula: the broker is connected, and its copy of the layout is the layout."""
        s = SplitVariables.now(self.p)
        return And(self.is_live(b), s.link[b] == "connected", s.view[b] == s.layout)

    def is_served(self, b: int, u: int) -> Condition:
        """The formula: the broker serves the bundle, and is up to date about it."""
        return And(self.is_up_to_date(b, u), self.is_active(b, u))

    def splits(self, b: int, u: int) -> Condition:
        """The formula: the broker is splitting the bundle."""
        return And(SplitVariables.now(self.p).split[b] != "none", SplitVariables.now(self.p).parent[b] == u)

    def has_cut(self, state: SplitVariables, b: int) -> Condition:
        """The formula: in this state the broker has written the layout of a split, and has yet to hand the parent over."""
        return state.split[b].among("written", RECORDED) if self.records else state.split[b] == "written"

    def is_due(self, b: int) -> Condition:
        """The formula: what the broker is about to write has the version of the layout."""
        s = SplitVariables.now(self.p)
        return And(s.split[b] == "writing", s.based_on[b] == s.layout_version)
