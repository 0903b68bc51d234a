"""How a service unit is split: its children are owned first, then the layout of the namespace is changed, then it is deleted.

Mirrors ServiceUnitStateChannelImpl.splitServiceUnit and what it calls. Unit 0 is the one that is split, and unit 1 stands for
its children, who fare alike. The layout is a node of the metadata store; a broker looks units up by its own copy of it, of
whose change it is told. Topics are those of the child where the copy has changed: they are not closed. How boundaries are
chosen, and what else goes wrong with the layout of a namespace, is the protocol ``split``.

BadVersion, as another unit of the namespace was split meanwhile: all is done again, NamespaceService.BUNDLE_SPLIT_RETRY_LIMIT
times (7) in all. After that, or any other failure, the unit stays in state Splitting until the leader finds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from fencepost.model.language import ABSENT, And, Choice, Condition, Family, If, Not, Or, Outcome, Protocol, Updates
from fencepost.model.pulsar.service_unit.metadata_views import MetadataViews
from fencepost.model.pulsar.service_unit.records import FIRST, Record, Records
from fencepost.model.pulsar.service_unit.system_topic import SystemTopic
from fencepost.model.zookeeper.sessions_and_nodes import Sessions, merged

if TYPE_CHECKING:
    from fencepost.model.pulsar.service_unit.channel import Topics

PARENT, CHILD = 0, 1
Stage = Literal["none", "owning", "changing", "deleting"]
STAGES: tuple[Stage, ...] = get_args(Stage)


class Splits:
    """The layout, the brokers' copies of it, and how far a split is that a broker carries out.

    ``stage`` is what it does next: write the child's record, change the layout, write that the parent is deleted;
    ``version`` is that of the record that asked for the split, and ``tries`` how often the layout was changed in between.
    """

    def __init__(
        self,
        p: Protocol,
        store: Sessions,
        records: Records,
        units: SystemTopic | MetadataViews,
        *,
        attempts: int,
    ) -> None:
        self.protocol, self.store, self.records, self.units, self.attempts = p, store, records, units, attempts
        broker = self.broker = store.client
        if p.parameters["splits"]:
            self.layout = p.flag("layout_split")
            self.copy = p.flag("layout_copy", per=broker)
            self.stage = p.choice("split_stage", STAGES, per=broker)
            self.version = p.number("split_version", 0, records.last, per=broker)
            self.tries = p.number("split_tries", 0, attempts - 1, per=broker)
        self.is_current = p.rule(self._is_current)
        self.is_taken = p.rule(self._is_taken)
        self.is_lost = p.rule(self._is_lost)
        self.deletes = p.rule(self._deletes)

    # --- formulas

    def has(self, b: int, u: int) -> Condition:
        """The formula: the unit is in the layout, as the broker has it."""
        return self.copy[b] if u == CHILD else Not(self.copy[b])

    def _is_current(self, b: int, u: int) -> Condition:
        """A unit is assigned only if it is in the layout of the namespace, and not just in a copy of it."""
        return Or(u == CHILD, Not(self.layout))

    def _is_taken(self, b: int, event: Record) -> Condition:
        """A broker that hears that another one is to split a unit closes the topics that it has of it."""
        return And(event.state == "Splitting", event.src != b)

    def _is_lost(self, b: int) -> Condition:
        """The child is another broker's: topics of the parent that were open here are closed when it takes their place."""
        child = self.units.view[b, CHILD]
        return And(child.state == "Owned", child.dst != b)

    def _deletes(self, b: int) -> bool:
        """Who has split a unit deletes its record when the split is done."""
        return True

    def is_at_work(self, b: int) -> Condition:
        """The formula: the broker carries out a split, and can."""
        writes = self.store.lives[b] if isinstance(self.units, SystemTopic) else self.store.reaches(b)
        return If(self.stage[b] == "changing", self.store.reaches(b), And(self.stage[b] != "none", writes))

    # --- updates

    def begun(self, b: int, event: Record) -> Updates:
        """What an event of the parent means to the split: it begins, also if one is under way that another broker was given."""
        begins = And(event.state == "Splitting", event.src == b)
        return {
            self.stage[b]: If(begins, "owning", self.stage[b]),
            self.version[b]: If(begins, event.version, self.version[b]),
            self.tries[b]: If(begins, 0, self.tries[b]),
        }

    def over(self, b: int) -> Updates:
        """A split is over at a broker."""
        return {self.stage[b]: "none", self.version[b]: 0, self.tries[b]: 0}

    def idle(self, b: int) -> Updates:
        """A process that has ended, or begins, splits nothing; one that begins reads the layout."""
        return {**self.over(b), self.copy[b]: And(Not(self.store.lives[b]), self.layout)}

    def lost(self, b: int) -> Updates:
        """SessionLost: a change of the layout that is under way fails, and with it the split."""
        fails = self.stage[b] == "changing"
        return {variable: If(fails, value, variable) for variable, value in self.over(b).items()}

    def learned(self, b: int, topics: Family[Choice[Topics]], closing: Family[Condition]) -> Updates:
        """The broker's copy of the layout has the child, and so the topics are the child's."""
        of_parent, of_child = topics[b, PARENT], topics[b, CHILD]
        taken = And(Not(of_parent.among("closed", "late")), self.is_lost(b))
        return {
            self.copy[b]: True,
            of_child: If(of_parent != "closed", of_parent, of_child),
            of_parent: "closed",
            closing[b, CHILD]: Or(closing[b, CHILD], closing[b, PARENT], taken),
            closing[b, PARENT]: False,
        }

    # --- steps

    def declare(self, topics: Family[Choice[Topics]], closing: Family[Condition]) -> None:
        """Declares how a unit is split; ``topics`` and ``closing`` are the variables of the channel."""
        p, units, records, broker = self.protocol, self.units, self.records, self.broker
        splits = p.parameters["splits"]
        stage: Family[Choice[Stage]] = self.stage if splits else ABSENT

        @p.step(
            by="c",
            to="store",
            mirrors="ServiceUnitStateChannelImpl.publishSplitEventAsync, ExtensibleLoadManagerImpl.splitNamespaceBundleAsync",
            spends="splits",
            c=broker,
            o=broker,
        )
        def split(c: int, o: int) -> Outcome:
            """The unit is to be split: the leader's policy wants it, or an administrator."""
            view = units.view[c, PARENT]
            owned = And(view.state == "Owned", view.dst == o, self.has(c, PARENT), units.may_write(c))
            return owned, units.written(c, PARENT, records.record("Splitting", records.after(view.version), src=o))

        @p.step(by="b", mirrors="ServiceUnitStateChannelImpl.ownChildBundles", fair=True, b=broker, only_if=splits)
        def own_child(b: int) -> Outcome:
            """The broker writes itself down as the owner of the child, if its view has no record of it."""
            absent = units.view[b, CHILD].absent
            owned = units.written(b, CHILD, records.record("Owned", FIRST, dst=b), absent)
            return And(stage[b] == "owning", units.may_write(b)), merged(owned, {stage[b]: "changing"})

        @p.step(
            by="b",
            mirrors="ServiceUnitStateChannelImpl.updateSplitNamespaceBundlesAsync, "
            "ServiceUnitStateChannelImpl.getSplitNamespaceBundles, BrokerService.refreshTopicToStatsMaps",
            fair=True,
            b=broker,
            only_if=splits,
        )
        def change_layout(b: int) -> Outcome:
            """The layout is changed, if that was not done before by whoever had the split then."""
            changed = {self.layout: True, **self.learned(b, topics, closing), stage[b]: "deleting"}
            return And(stage[b] == "changing", self.store.reaches(b)), changed

        @p.fault(
            by="b",
            mirrors="ServiceUnitStateChannelImpl.splitServiceUnitOnceAndRetry",
            spends="conflicts",
            b=broker,
            only_if=splits,
        )
        def meet_conflict(b: int) -> Outcome:
            """BadVersion: the layout was changed meanwhile. The broker begins again, or gives up for good."""
            gives_up = self.tries[b] == self.attempts - 1
            again: Updates = {stage[b]: "owning", self.tries[b]: self.tries[b] + 1}
            guard = And(stage[b] == "changing", self.store.reaches(b), Not(self.layout))
            return guard, {v: If(gives_up, value, again.get(v, v)) for v, value in self.over(b).items()}

        @p.step(by="b", mirrors="ServiceUnitStateChannelImpl.splitServiceUnitOnceAndRetry", fair=True, b=broker, only_if=splits)
        def delete_parent(b: int) -> Outcome:
            """The broker writes that the parent is deleted."""
            deleted = records.record("Deleted", records.after(self.version[b]), src=b)
            return And(stage[b] == "deleting", units.may_write(b)), merged(units.written(b, PARENT, deleted), self.over(b))

        @p.step(
            by="b",
            hears="store",
            mirrors="NamespaceBundleFactory.handleMetadataStoreNotification",
            fair=True,
            b=broker,
            only_if=splits,
        )
        def learn_layout(b: int) -> Outcome:
            """A broker hears that the layout was changed, and reads it."""
            return And(self.store.reaches(b), self.layout, Not(self.copy[b])), self.learned(b, topics, closing)
