"""What a broker holds of a topic, and what it must have done before it goes on: its queue, its fence and its ledgers."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost.model.language import And, Condition, If, Implies, Not, Or, Truth, all_of, any_of
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.topic.state import NONE, NOTHING, BrokerState
from fencepost.properties.topic.variables import Log, TopicVariables
from fencepost.properties.vocabulary import Suite

_WRITES: Sequence[BrokerState] = ("opened", "closing_ledger", "creating", "closed_ledger", "write_failed")


def topic_broker(suite: Suite, log: Log) -> None:
    """Declares what holds of each broker."""
    _queue(suite, log)
    _receipts(suite, log)
    _fence(suite, log)
    _producer(suite, log)
    _ledgers(suite, log)
    if log.settings["dedup"]:
        _deduplication(suite, log)
    if log.settings["subscription"]:
        _subscription(suite, log)


def _queue(suite: Suite, log: Log) -> None:
    s, n, broker = log.state, TopicVariables.later(suite.protocol), log.broker

    @suite.always
    def queue_is_counted() -> Condition:
        """A queue has as many messages as its broker counts; no more of them have arrived, and no more of these are sent. A
        connection counts no more of them either."""
        room = suite.protocol.universes["place_in_queue"]
        counted = [(s.queue[b, q] != NOTHING, s.length[b] > q) for b in broker for q in room]
        both = [And(Implies(there, in_it), Implies(in_it, there)) for there, in_it in counted]
        counts = [s.counted[b] <= s.length[b] for b in broker] if hasattr(s, "counted") else []
        return And(*both, *counts, *(And(s.sent[b] <= s.arrived[b], s.arrived[b] <= s.length[b]) for b in broker))

    @suite.step
    def arrived_is_kept() -> Condition:
        """What has arrived at a managed ledger stays there until it leaves the queue."""
        stays = {b: Or(n.arrived[b] >= s.arrived[b], n.length[b] < s.length[b]) for b in broker}
        return all_of(Or(stays[b], n.state[b] == "none") for b in broker)

    @suite.step
    def confirmed_is_the_first_sent() -> Condition:
        """The entry that is confirmed to a broker is that of the first message in its queue, which it has sent."""
        places = [(b, k, e) for b in broker for k, e in log.places]
        rises = {k: log.next_confirmed[k] > log.confirmed[k] for k in log.ledger}
        here = {(b, k, e): And(s.current[b] == k, log.confirmed[k] == e, rises[k]) for b, k, e in places}
        same = {(b, k, e): any_of(And(s.queue[b, 0] == m, s.content[k, e] == m) for m in log.message) for b, k, e in places}
        return all_of(Implies(here[b, k, e], And(s.sent[b] > 0, same[b, k, e])) for b, k, e in places)

    @suite.step
    def failed_writes_fence() -> Condition:
        """A write that leaves the queue and is not stored fences its topic, or closes it."""
        rises = any_of(log.next_confirmed[k] > log.confirmed[k] for k in log.ledger)
        stored = {b: Or(rises, s.filled[b] if hasattr(s, "filled") else False) for b in broker}
        lost = {b: And(n.length[b] < s.length[b], Not(stored[b]), n.state[b] != "none") for b in broker}
        return all_of(Implies(lost[b], n.topic[b] != "serving") for b in broker)

    if log.settings["add_failures"]:

        @suite.step
        def adds_fail_under_way() -> Condition:
            """An add fails, or is not answered in time, only where one is under way."""
            return Implies(n.add_failures > s.add_failures, any_of(s.sent[b] > 0 for b in broker))

    @suite.step
    def fenced_for_a_write() -> Condition:
        """A topic fences itself and disconnects its producer only as a write fails, and a managed ledger refuses writes only as
        one has failed."""
        fences = {b: And(s.topic[b] == "serving", n.topic[b] == "fenced") for b in broker}
        refuses = {b: And(s.state[b] != "write_failed", n.state[b] == "write_failed") for b in broker}
        links = hasattr(s, "link")
        cuts = {b: And(s.connected == b, s.link == "attached", n.link == "disconnecting") if links else False for b in broker}
        return all_of(Or(n.length[b] < s.length[b], Not(Or(fences[b], refuses[b], cuts[b]))) for b in broker)


def _receipts(suite: Suite, log: Log) -> None:
    s, n, broker = log.state, TopicVariables.later(suite.protocol), log.broker

    def is_answered(b: int) -> Condition:
        """The formula of a step: the first write of the queue is answered as stored."""
        confirmed = any_of(And(s.current[b] == k, log.next_confirmed[k] > log.confirmed[k]) for k in log.ledger)
        fills = hasattr(s, "filled")
        now = And(confirmed, Not(n.filled[b])) if fills else confirmed
        later = And(s.filled[b], Not(n.filled[b])) if fills else False
        return And(Or(now, later), n.length[b] < s.length[b], n.state[b] != "none")

    @suite.step
    def stored_is_acknowledged() -> Condition:
        """A producer that waits for a message hears that it is stored; one that waits for an earlier one is disconnected.
        Deduplication knows the message from then on."""

        def follows(b: int, m: int) -> Condition:
            here = s.connected == b
            heard = If(And(here, s.acked == m), n.acked == m + 1, n.acked == s.acked)
            cut = Or(Not(And(here, s.acked < m)), n.connected == NOBODY)
            return And(heard, cut, n.persisted[b] == m + 1 if log.settings["dedup"] else True)

        writes = [(b, m, And(is_answered(b), s.queue[b, 0] == m)) for b in broker for m in log.message]
        return all_of(Implies(answered, follows(b, m)) for b, m, answered in writes)


def _fence(suite: Suite, log: Log) -> None:
    s, broker, settings = log.state, log.broker, log.settings
    n = TopicVariables.later(suite.protocol)

    @suite.step
    def closed_with_its_managed_ledger() -> Condition:
        """A topic closes itself only with a managed ledger that is fenced or closed."""
        closes = {b: And(s.topic[b] != "closing", n.topic[b] == "closing") for b in broker}
        return all_of(Implies(closes[b], n.state[b].among("fenced", "closed")) for b in broker)

    if settings["failures"] + settings.get("slow_updates", 0):

        @suite.always
        def write_failed_is_fenced() -> Condition:
            """A managed ledger in state WriteFailed is one of a topic that is fenced or being closed."""
            return all_of(Implies(s.state[b] == "write_failed", s.topic[b] != "serving") for b in broker)

    if settings["failures"] + settings["terminations"] + settings.get("slow_updates", 0):

        @suite.always
        def fenced_has_no_producer() -> Condition:
            """The producer of a fenced topic is going to be disconnected."""
            stays = {b: And(s.connected == b, s.link == "attached") for b in broker}
            return all_of(Not(And(s.topic[b] == "fenced", stays[b])) for b in broker)

        @suite.always
        def cut_off_is_connected() -> Condition:
            """Only a producer that is connected is going to be disconnected."""
            return Or(s.connected != NOBODY, s.link == "attached")


def _producer(suite: Suite, log: Log) -> None:
    s, n, broker = log.state, TopicVariables.later(suite.protocol), log.broker

    if len(broker) > 1:

        @suite.step
        def others_keep_their_producer() -> Condition:
            """What becomes of a broker disconnects no producer of another one."""
            ends = {b: And(s.connected == b, n.connected != b) for b in broker}
            return all_of(Implies(ends[b], n.state[c] == s.state[c]) for b in broker for c in broker if b != c)

    @suite.step
    def one_connection() -> Condition:
        """A producer that is connected stays where it is, or is disconnected; what it has sent it does not send again there."""
        stays = {b: And(n.connected == b, n.next_out >= s.next_out) for b in broker}
        return all_of(Implies(s.connected == b, Or(stays[b], n.connected == NOBODY)) for b in broker)


def _deduplication(suite: Suite, log: Log) -> None:
    s, n, broker = log.state, TopicVariables.later(suite.protocol), log.broker

    @suite.step
    def replayed_is_persisted() -> Condition:
        """What a broker knows of a producer as it loads the topic is persisted, and was pushed."""
        loads = {b: And(s.state[b] == "recovered", n.state[b] == "opened") for b in broker}
        return all_of(Implies(loads[b], n.pushed[b] == n.persisted[b]) for b in broker)

    if log.settings["snapshots"] + log.settings.get("truncations", 0) and not log.settings["deletions"]:

        @suite.step
        def snapshots_are_of_a_writer() -> Condition:
            """The cursor of deduplication changes only at a broker that writes the topic, or that is about to."""
            same = And(n.snapshot == s.snapshot, n.snapshot_at == s.snapshot_at)
            return Or(same, any_of(s.state[b].among("recovered", *_WRITES) for b in broker))

        @suite.always
        def snapshot_is_of_what_is_before_it() -> Condition:
            """Every message that a snapshot counts is in the log, before the position of the snapshot."""
            before = {m: any_of(And(s.snapshot_at > log.number(*x), log.has(*x, m)) for x in log.places) for m in log.message}
            return all_of(Implies(s.snapshot > m, before[m]) for m in log.message)


def _ledgers(suite: Suite, log: Log) -> None:
    s, broker, ledger = log.state, log.broker, log.ledger
    n = TopicVariables.later(suite.protocol)
    left: Sequence[BrokerState] = ("creating", "closed_ledger", "write_failed", "terminated", "closed")

    @suite.always
    def left_ledgers_are_closed() -> Condition:
        """A broker that does not write its current ledger any more has had it closed, and has sent nothing to the next one.

        One that is terminated or closed may have yet to hear of the close of a ledger, for the entry that filled it.
        """
        gone = {b: s.state[b].among(*left) for b in broker}

        def waits(b: int) -> Truth:
            stopped = s.state[b].among("terminated", "closed")
            return And(stopped, s.filled[b], s.sent[b] == 1) if hasattr(s, "filled") else False

        idle = all_of(Implies(gone[b], Or(s.sent[b] == 0, waits(b))) for b in broker)
        over = {k: log.status[k].among("closed", "deleted") for k in ledger}
        return And(idle, *(Implies(And(gone[b], s.current[b] == k), over[k]) for b in broker for k in ledger))

    if len(broker) == 1 and not log.settings["deletions"]:

        @suite.always
        def current_ledger_is_there() -> Condition:
            """The ledger that a broker takes for its current one, where it reads the end of the log, is not deleted."""
            return all_of(Implies(s.current[b] == k, log.status[k] != "deleted") for b in broker for k in ledger)

    @suite.always
    def unknown_has_no_entries() -> Condition:
        """A broker counts no entries of a ledger that its list does not have."""
        return all_of(Or(s.known[b].has(k), s.known_entries[b, k] == 0) for b in broker for k in ledger)

    @suite.always
    def recovered_has_entries() -> Condition:
        """A broker that has recovered the last ledger knows of no empty ledger, and of none that is missing."""
        pairs = [(b, k) for b in broker for k in ledger]
        return all_of(Or(s.state[b] != "recovered", Not(s.known[b].has(k)), s.known_entries[b, k] > 0) for b, k in pairs)

    @suite.always
    def full_is_not_open() -> Condition:
        """A managed ledger that is open has room in its ledger."""
        pairs = [(b, k) for b in broker for k in ledger]
        return all_of(Or(s.state[b] != "opened", s.current[b] != k, log.sent[k] < log.capacity) for b, k in pairs)

    @suite.step
    def empty_is_not_rolled() -> Condition:
        """A ledger to which nothing was sent is not rolled over."""
        rolls = {b: And(s.state[b] == "opened", n.state[b] == "creating") for b in broker}
        return all_of(Implies(And(rolls[b], s.current[b] == k), log.sent[k] > 0) for b in broker for k in ledger)

    if log.settings["trims"]:

        @suite.always
        def trimmed_from_the_front() -> Condition:
            """Before a ledger that was trimmed, and has left the list, there is none in the list."""
            gone = {k: And(s.trimmed.has(k), Not(s.listed.has(k))) for k in ledger}
            return all_of(Not(And(gone[k], s.listed.has(j))) for k in ledger for j in ledger if j < k)

        @suite.step
        def trims_when_it_writes() -> Condition:
            """Ledgers are trimmed by a managed ledger that is neither fenced nor closed, and creates no ledger; that which it
            writes is not trimmed."""
            may: Sequence[BrokerState] = ("opened", "closing_ledger", "closed_ledger", "write_failed", "terminated")
            free = {b: And(s.state[b].among(*may), s.fresh[b] == NONE) for b in broker}
            trims = {b: And(n.trimmed != s.trimmed, n.known[b] != s.known[b]) for b in broker}
            spares = {b: all_of(Or(s.current[b] != k, s.trimmed.has(k), Not(n.trimmed.has(k))) for k in ledger) for b in broker}
            return all_of(Implies(trims[b], And(free[b], spares[b])) for b in broker)

    @suite.always
    def new_ledgers_are_under_way() -> Condition:
        """A broker that has created a ledger and not listed it is opening the topic or rolling over, or was stopped in that."""
        under_way: Sequence[BrokerState] = ("recovered", "creating", "terminated", "closed")
        return all_of(Or(s.fresh[b] == NONE, s.state[b].among(*under_way)) for b in broker)

    if hasattr(s, "mutex"):

        @suite.always
        def mutex_is_given_back() -> Condition:
            """A broker holds metadataMutex only while an update of its list is under way."""
            slow = {b: s.slow[b] != NONE if hasattr(s, "slow") else False for b in broker}
            return all_of(s.mutex[b] == slow[b] for b in broker)

    if hasattr(s, "slow"):

        @suite.step
        def updates_wait_for_a_slow_one() -> Condition:
            """A slow update of the list is over only as the list has its ledger, or as that is deleted."""
            over = {(b, k): And(s.slow[b] == k, n.slow[b] != k, n.state[b] != "none") for b in broker for k in ledger}
            known = {k: Or(n.listed.has(k), n.ledger.status[k] == "deleted") for k in ledger}
            return all_of(Implies(over[b, k], known[k]) for b, k in over)

    @suite.always
    def unlisted_has_no_entries() -> Condition:
        """The list says nothing of a ledger that it does not have."""
        return all_of(Or(s.listed.has(k), s.entries[k] == 0) for k in ledger)

    @suite.always
    def former_ledgers_have_entries() -> Condition:
        """Every ledger of the list but the last one has entries."""
        return all_of(Not(And(s.listed.has(k), log.has_a_ledger_after(k), s.entries[k] == 0)) for k in ledger)

    if log.settings["trims"] and not log.settings["deletions"]:

        @suite.always
        def deleted_is_done() -> Condition:
            """A ledger that is deleted is none that a broker has still to delete."""
            due = {k: any_of(s.deleting[b].has(k) for b in broker) for k in ledger}
            return all_of(Not(And(due[k], log.status[k] == "deleted")) for k in ledger)

    if log.settings["deletions"]:

        @suite.step
        def deletion_takes_all_ledgers() -> Condition:
            """A topic that is deleted by a broker which knows its list leaves no ledger of it behind, and leaves the broker."""
            left_behind = any_of(And(s.listed.has(k), n.ledger.status[k] != "deleted") for k in ledger)
            leaves = any_of(And(s.state[b] != "none", n.state[b] == "none") for b in broker)
            return Implies(And(n.discarded, Not(s.discarded)), And(leaves, Not(left_behind)))

        @suite.step
        def deleted_when_unused() -> Condition:
            """A broker that has a producer of the topic does not delete it."""
            empties = And(n.version != s.version, n.listed.is_empty, Not(s.listed.is_empty))
            return all_of(Not(And(empties, s.connected == b, n.state[b] == "none")) for b in broker)


def _subscription(suite: Suite, log: Log) -> None:
    s, n = log.state, TopicVariables.later(suite.protocol)

    @suite.step
    def subscription_skips_nothing() -> Condition:
        """The subscription acknowledges entries of the log, one after the other."""
        numbers = {x: log.number(*x) for x in log.places}
        skipped = [And(log.is_stored(*x), s.consumed <= numbers[x], n.consumed > numbers[x] + 1) for x in log.places]
        absent = [And(s.consumed <= numbers[x], n.consumed == numbers[x] + 1, Not(log.is_stored(*x))) for x in log.places]
        return Not(Or(*skipped, *absent))
