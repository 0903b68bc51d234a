"""Known bugs of the service unit channel: what each of them makes of a rule."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Not, Or, Outcome
from fencepost.model.pulsar.service_unit.channel import Channel
from fencepost.model.pulsar.service_unit.leader import Leader
from fencepost.model.pulsar.service_unit.metadata_views import MetadataViews
from fencepost.model.pulsar.service_unit.records import Record
from fencepost.model.pulsar.service_unit.system_topic import SystemTopic
from fencepost.model.pulsar.shared_bugs import SHARED
from fencepost.model.zookeeper.sessions_and_nodes import merged

BUGS = {
    "gaps_accepted": "pulsar#19490: a record that comes late is accepted after a tombstone, and unchecked over a lower version",
    "late_tombstones": "a tombstone says not which record it is for: one that comes late deletes another's",
    "jumps_rejected": "pulsar#20110: a view that lags rejects what compaction has left, as versions are missing between",
    "tombstones_compacted": "compaction leaves no tombstones: a view that lags takes a unit's new records for old",
    "copies_compared_by_version": "pulsar#24186: a copy is not brought up to date by a record of the same version",
    "missed_not_read": "a broker that was cut off never hears of what was written meanwhile, and does not look",
    "copy_kept": "pulsar#24478: a broker whose session is lost goes on with its copies, and with the topics",
    "close_waits_for_lookup": "pulsar#21332: to close, a topic asks who owns it, and waits for the end of the unload",
    "close_overtaken": "a unit whose topics are still closing, which may take 60 s, is overridden after 30 s",
    "transfer_unseen": "a broker that does not see the very record by which its unit went to another keeps the clients",
    "transfer_back_unfinished": "a broker that gets a unit back in a transfer does nothing with the topics that it has closed "
    "halfway: they stay fenced",
    "existing_ignored": "pulsar#25379: a broker that starts does not act on an assignment to it that is there",
    "newer_lookup_dropped": "pulsar#26146: the end of one lookup drops the next one, which then waits out its 30 s",
    "owned_buried": "pulsar#21721: the monitor deletes the records of units that are owned",
    "source_missed": "pulsar#23064: a unit counts as orphaned because the broker that had it before is gone",
    "override_not_repeated": "pulsar#26520: a clean-up's override that loses to another record is not tried again",
    "assigned_while_leaving": "pulsar#26520: a broker that is shutting down assigns units, and may select itself",
    "release_cut_short": "a broker that shuts down gives away by force what it is releasing, before the topics are closed",
    "handed_over_at_once": "a broker that shuts down makes another one the owner of a unit before it has closed the topics",
    "event_lost": SHARED["event_lost"],
    "session_event_unseen": "pulsar#25132: a re-established session goes unnoticed, and no leader cleans up any more",
    "registration_lost": "pulsar#23359, #23382, #24057, #24932: a broker's node in the registry is not made again",
    "registration_persists": "pulsar#23889, #23984: a broker's node in the registry outlives its session",
    "selected_late": "pulsar#20677: a lookup whose assignment loses to an owner that is known by then waits out its 30 s",
    "split_kept": "a broker keeps the topics of a unit open that another one splits, or owns the child of",
    "split_forgotten": "a broker that has not heard of a split assigns the unit again when its record is gone",
    "deleted_lingers": "pulsar#22743: the record of a unit that was split stays, for an hour",
}
"""Each bug in one line, with its number upstream if it has one."""


def put_in(channel: Channel, leader: Leader) -> None:
    """Puts what the bugs that are switched on make of a rule in its place; before the steps are declared."""
    units, records, p = channel.units, channel.records, channel.protocol
    if isinstance(units, SystemTopic):
        units.keeps_old.instead("gaps_accepted", lambda old, new: records.keeps_old(old, new, topic=True))
        units.outlives.instead("tombstones_compacted", lambda record: Not(record.absent))
        units.keeps_old.instead("jumps_rejected", lambda old, new: records.keeps_old(old, new, topic=False))
    if isinstance(units, MetadataViews):
        copies = units.view
        units.is_news.instead("copies_compared_by_version", lambda b, u: copies[b, u].version != units.record[u].version)
        units.lost.instead("copy_kept", lambda b: {})
        units.reestablished.instead("copy_kept", lambda b: {})
        units.reconnected.instead("missed_not_read", lambda b: {})
        channel.lost.instead("copy_kept", lambda b: {})
        channel.reestablished.instead("copy_kept", lambda b: {})

    def is_moving(b: int, u: int) -> Condition:
        return units.view[b, u].state.among("Assigning", "Releasing")

    def sees_transfer(b: int, event: Record) -> Condition:
        """The formula: the record says that the unit came from this broker, by a transfer or an override."""
        return And(event.src == b, Or(event.force, channel.multi_phase))

    channel.is_taken.instead("transfer_unseen", sees_transfer)
    channel.comes_back.instead("transfer_back_unfinished", lambda b, u: False)
    channel.meets.instead("late_tombstones", lambda b, u: True)
    channel.is_free.instead("late_tombstones", lambda b, u: True)
    channel.waits_for_owner.instead("close_waits_for_lookup", is_moving)
    channel.must_not_close.instead("close_waits_for_lookup", lambda b, u: channel.pending[b, u])
    channel.closes_in_time.instead("close_overtaken", lambda b, u: False)
    channel.acts_on_existing.instead("existing_ignored", lambda b, u: False)
    channel.renews.instead("registration_lost", lambda b: False)
    leader.may_bury.instead("owned_buried", lambda view: view.state.among("Free", "Owned"))
    leader.is_orphan.instead("source_missed", lambda view, x: Or(view.concerns(x), And(view.state == "Owned", view.src == x)))
    leader.has_read_all.instead("override_not_repeated", lambda b, u: True)
    leader.on_reestablished.instead("session_event_unseen", lambda b: {})
    if channel.splits is not None:
        channel.splits.is_taken.instead("split_kept", lambda b, event: False)
        channel.splits.is_lost.instead("split_kept", lambda b: False)
        channel.splits.is_current.instead("split_forgotten", lambda b, u: True)
        channel.splits.deletes.instead("deleted_lingers", lambda b: False)
    if channel.shutdown is not None:
        channel.shutdown.may_assign.instead("assigned_while_leaving", lambda b: True)
        channel.shutdown.repeats.instead("override_not_repeated", lambda: False)
        channel.shutdown.released.instead("release_cut_short", lambda: ("Owned",))
        channel.shutdown.released.instead("handed_over_at_once", lambda: ())
    if p.has("newer_lookup_dropped"):
        channel.dropped = p.flag("dropped", per=(channel.broker, channel.unit))


def declare_steps(channel: Channel) -> None:
    """Declares the steps that a correct channel does not take."""
    p, pending, dropped = channel.protocol, channel.pending, channel.dropped

    @p.step(
        by="b",
        mirrors="ServiceUnitStateChannelImpl.dedupeGetOwnerRequest",
        b=channel.broker,
        u=channel.unit,
        only_if=p.has("newer_lookup_dropped"),
    )
    def drop_newer_lookup(b: int, u: int) -> Outcome:
        """What is left to do for a lookup that has ended takes the next one out of the map, too: no event ends that one."""
        return And(channel.store.lives[b], pending[b, u], Not(dropped[b, u])), {dropped[b, u]: True}

    units, records = channel.units, channel.records

    @p.step(
        by="client",
        mirrors="ExtensibleLoadManagerImpl.getOrSelectOwnerAsync, ServiceUnitStateChannelImpl.publishAssignEventAsync",
        b=channel.broker,
        u=channel.unit,
        x=channel.broker,
        only_if=p.has("selected_late"),
    )
    def assign_late(b: int, u: int, x: int) -> Outcome:
        """While a broker was selected the unit got an owner: the record is made from the owner's, and rejected."""
        view = units.view[b, u]
        guard = And(Not(pending[b, u]), view.state == "Owned", channel.is_registered(x), units.may_ask(b))
        assigning = records.record("Assigning", records.after(view.version), dst=x)
        return guard, merged({pending[b, u]: True}, units.written(b, u, assigning))
