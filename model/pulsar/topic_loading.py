"""How a broker loads a topic: a future that others wait for, its timer, who takes it away, and the policies that it waits for.

Mirrors BrokerService.getTopic, loadOrCreatePersistentTopic, createPersistentTopic0 and failTopicFuture, and
SystemTopicBasedTopicPoliciesService with its reader of the namespace's system topic __change_events, as read in Pulsar 2.10.1,
3.0.7, 4.0.8, 4.2.4, 5.0.0-M1 and 5.0.1 (decompiled).

A lookup that finds no future of the topic waits for the policies of the namespace, which a reader of the system topic reads to
its end once for all of its topics. Then it puts a future into the map of topics, and opens the managed ledger. A timer fails
that future after topicLoadTimeoutSeconds; who looks the topic up meanwhile gets the same future.

Where nothing is wrong the timer takes the future out of the map, and what the attempt still opens is closed. Upstream only the
attempt's own end takes it away (``timed_out_kept``): if an answer never comes the topic is out of service until another broker
gets its bundle or this one is restarted, though each part works again. 2.10.1 differs: it does not wait for the policies, and a
lookup takes away a future that has failed.

Not modelled: the limit on topics that are loaded at once, deletion and migration of topics, partitioned metadata, the ledger's
own recovery (the protocol ``topic``), several topics and brokers. An answer is never merely late: the timer is over only where
it never comes, so no attempt ends after it. Since 4.2.4 the reading of the policies is taken to have a time-out, which
topicPoliciesCacheInitTimeoutSeconds=0 switches off; a check names that as not judged.

In 4.0.8 and later the timer also runs while the policies are read. It fails a lookup that waits; once the policies are known
the failed future is put into the map, until its attempt ends. This is not modelled, and neither are policies whose reading
fails or is begun again by an unload, without which the topic is opened (pulsar#26137, #26513).

Constants
    bounded              the reading of the policies has a time-out (topicPoliciesCacheInitTimeoutSeconds), as since 4.2.4
    lost_answers         answers of the metadata store that never come
    stalls               times that the reader of the system topic makes no progress any more
    trims                times that the system topic is trimmed and compacted while its reader connects again
    failures             times that opening the topic fails

Variables of the broker
    topic                the topic in the map: absent, a future that is pending, one that has failed, or served
    attempt              what the load waits for: nothing, policies, or the opening of the managed ledger
    unanswered           the answer that the opening waits for never comes
    policies             of the namespace: unknown, reading, stuck, when the reader waits for good, or known
    skipped              the reader has gone past what it has not read

Variables of the client
    waits                it waits for the answer to a lookup
    served               its last lookup was answered with the topic

Variables that count
    lost_answers, stalls, trims, failures
                         how often each event has happened, up to the constant of that name

Actions of the client
    look_up              asks for the topic: a future that is there is what it waits for, or a new load begins; one that has
                         failed answers with its failure, which changes nothing

Actions of the broker
    read_policies        the reader has reached the end of the system topic
    go_on                the policies are known: the future is in the map, and the managed ledger is being opened
    finish, fail         the topic is open; or it cannot be opened: the future is taken away, and fails
    time_out             the timer fails the future
    stop_reading         the reading of the policies takes too long: its reader is closed, and the lookup fails
    lose_answer          a fault: the answer that the opening waits for never comes
    stall                a fault: the reader makes no progress any more
    skip                 a fault: what the reader acknowledges is trimmed. With the bug reader_skips it is at the end then

The properties are in ``properties/topic_loading/suite.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from fencepost.model.language import And, If, Not, Or, Outcome, Protocol
from fencepost.model.releases import changed

Entry = Literal["absent", "pending", "failed", "served"]
Attempt = Literal["none", "policies", "opening"]
Policies = Literal["unknown", "reading", "stuck", "known"]
ENTRIES: tuple[Entry, ...] = ("absent", "pending", "failed", "served")
ATTEMPTS: tuple[Attempt, ...] = ("none", "policies", "opening")
POLICIES: tuple[Policies, ...] = ("unknown", "reading", "stuck", "known")

RELEASES = changed("bounded", since="4.2.4", before=False, after=True)
"""What behaves otherwise from release to release: whether the reading of the policies has a time-out (pulsar#25294)."""

BUGS = {
    "reader_skips": "pulsar#25998: an acknowledgement of what is trimmed moves the reader of the policies past what it has not "
    "read",
    "timed_out_kept": "pulsar#26457, #24497: a future that its timer has failed stays in the map until its attempt ends",
    "failed_kept": "a future that has failed stays in the map",
    "policies_not_awaited": "a topic is opened before the policies of its namespace are known",
}


def topic_loading(
    *,
    bounded: bool = True,
    lost_answers: int = 1,
    stalls: int = 1,
    trims: int = 1,
    failures: int = 1,
    bugs: Iterable[str] = (),
) -> Protocol:
    """The load of one topic; see the module for what the parameters are."""
    budgets = {"lost_answers": lost_answers, "stalls": stalls, "trims": trims, "failures": failures}
    p = Protocol("topic_loading", doc=__doc__, parameters={"bounded": bounded, **budgets}, bugs=BUGS, active=bugs)
    topic, attempt = p.choice("topic", ENTRIES), p.choice("attempt", ATTEMPTS)
    policies, unanswered, skipped = p.choice("policies", POLICIES), p.flag("unanswered"), p.flag("skipped")
    waits, served = p.flag("waits"), p.flag("served")
    for name, limit in budgets.items():
        p.budget(name, limit)

    @p.step(by="client", to="broker", mirrors="BrokerService.getTopic", fair=True)
    def look_up() -> Outcome:
        """A lookup that finds a future waits for it, or is answered; one that finds none begins a load."""
        begins = And(topic == "absent", attempt == "none")
        reads = And(begins, policies == "unknown")
        is_free = Or(topic.among("pending", "served"), topic == "absent")
        return And(is_free, Not(waits), Not(served)), {
            waits: topic != "served",
            served: topic == "served",
            attempt: If(begins, "policies", attempt),
            policies: If(reads, "reading", policies),
        }

    @p.step(by="reader", to="broker", mirrors="SystemTopicBasedTopicPoliciesService.initPolicesCache", fair=True)
    def read_policies() -> Outcome:
        """The reader has no more messages: the policies of the namespace are known."""
        return policies == "reading", {policies: "known"}

    @p.step(by="broker", mirrors="BrokerService.loadOrCreatePersistentTopic, BrokerService.createPersistentTopic0", fair=True)
    def go_on() -> Outcome:
        """The policies are known: the future is put into the map unless one is there, and the managed ledger is opened."""
        are_known = True if p.has("policies_not_awaited") else policies == "known"
        return And(attempt == "policies", are_known, topic == "absent"), {attempt: "opening", topic: "pending"}

    opens = And(attempt == "opening", Not(unanswered))

    @p.step(by="broker", to="client", mirrors="BrokerService.createPersistentTopic0", fair=True)
    def finish() -> Outcome:
        """The topic is open: the future is done, and so are the lookups that wait for it."""
        return And(opens, topic == "pending"), {topic: "served", attempt: "none", served: Or(served, waits), waits: False}

    @p.fault(by="broker", mirrors="BrokerService.failTopicFuture", spends="failures")
    def fail() -> Outcome:
        """The topic cannot be opened: the future leaves the map, and fails."""
        after = "failed" if p.has("failed_kept") else "absent"
        return And(opens, topic == "pending"), {topic: after, attempt: "none", waits: False}

    @p.step(by="timer", to="client", mirrors="BrokerService.getTopic", fair=True)
    def time_out() -> Outcome:
        """topicLoadTimeoutSeconds are over: the future fails, and with it the lookups that wait for it."""
        if p.has("timed_out_kept"):
            return And(topic == "pending", unanswered), {topic: "failed", waits: False}
        return And(topic == "pending", unanswered), {topic: "absent", attempt: "none", unanswered: False, waits: False}

    @p.step(by="timer", to="client", mirrors="SystemTopicBasedTopicPoliciesService.scheduleInitPolicesCacheTimeout", fair=True)
    def stop_reading() -> Outcome:
        """The policies are not read in time: the reader is closed, and the next lookup makes another one."""
        is_over = policies == "stuck" if bounded else False
        return is_over, {policies: "unknown", skipped: False, attempt: If(attempt == "policies", "none", attempt), waits: False}

    @p.fault(by="store", mirrors="ManagedLedgerFactoryImpl.asyncOpen", spends="lost_answers")
    def lose_answer() -> Outcome:
        """An answer that the opening waits for never comes."""
        return opens, {unanswered: True}

    @p.fault(by="reader", mirrors="SystemTopicBasedTopicPoliciesService.initPolicesCache", spends="stalls")
    def stall() -> Outcome:
        """The reader makes no progress any more."""
        return policies == "reading", {policies: "stuck"}

    @p.fault(by="reader", mirrors="PersistentSubscription.acknowledgeMessage", spends="trims")
    def skip() -> Outcome:
        """The reader connects again, and acknowledges what is trimmed meanwhile. Nothing comes of it, but with the bug it is at
        the end of the log, where it waits for what it has not read."""
        if p.has("reader_skips"):
            return policies == "reading", {policies: "stuck", skipped: True}
        return policies == "reading", {}

    return p
