"""What must hold of a topic that is replicated to another cluster."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, Universe, all_of, any_of
from fencepost.model.pulsar.geo_replication import NONE, Stage
from fencepost.properties.geo_replication.variables import GeoReplicationVariables
from fencepost.properties.vocabulary import Leads, Suite


def geo_replication(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.pulsar.geo_replication.geo_replication`` built."""
    suite, s, n = Suite(p), GeoReplicationVariables.now(p), GeoReplicationVariables.later(p)
    message, place, dedup = p.universes["message"], p.universes["place"], p.parameters["deduplication"]

    @suite.always
    def replicated_is_stored() -> Condition:
        """What the cursor counts as replicated is stored in the other cluster, or is being written there."""
        return all_of(Implies(s.replicated.has(m), Or(s.copies[m] > 0, s.writing[m])) for m in message)

    @suite.strict("without deduplication what is sent again is stored again", when=not dedup)
    def stored_once() -> Condition:
        """No message is stored twice in the other cluster."""
        return all_of(s.copies[m] < 2 for m in message)

    @suite.always
    def published_is_copied() -> Condition:
        """Nothing is in the other cluster, or on its way there, that the source does not have."""
        here = {m: Or(s.copies[m] > 0, s.writing[m], s.replicated.has(m)) for m in message}
        return all_of(Implies(here[m], s.published > m) for m in message)

    @suite.always
    def queue_has_no_gap() -> Condition:
        """The queue of the producer has no gap, and what is not in it has not been sent."""
        rest = [Implies(s.queue[i] == NONE, s.queue[i + 1] == NONE) for i in place if i + 1 in place]
        return And(*rest, *(Implies(s.queue[i] == NONE, s.stage[i] == "unsent") for i in place))

    @suite.always
    def queue_was_read() -> Condition:
        """What is in the queue was read, and is in the order of the log."""
        was_read = [Implies(s.queue[i] == m, s.read > m) for i in place for m in message]
        pairs = [(m, k) for m in message for k in message if k <= m]
        swapped = [And(s.queue[i] == m, s.queue[i + 1] == k) for i in place if i + 1 in place for m, k in pairs]
        return And(*was_read, *map(Not, swapped))

    @suite.always
    def sent_in_order() -> Condition:
        """What is sent by a connection is the first of the queue."""
        return all_of(Implies(s.stage[i] == "unsent", s.stage[i + 1] == "unsent") for i in place if i + 1 in place)

    if dedup:

        @suite.always
        def persisted_was_pushed() -> Condition:
            """Deduplication knows nothing as stored that was not taken."""
            return all_of(s.persisted[k] <= s.pushed[k] for k in p.universes["sender"])

    @suite.step
    def copies_are_added() -> Condition:
        """A copy stays, and another one is stored only of what was being written."""
        more = {m: And(n.copies[m] == s.copies[m] + 1, s.writing[m]) for m in message}
        return all_of(Or(n.copies[m] == s.copies[m], more[m]) for m in message)

    @suite.step
    def taken_is_written() -> Condition:
        """What the target begins to write is in the queue as being written."""
        begins = {m: And(Not(s.writing[m]), n.writing[m]) for m in message}
        return all_of(Implies(begins[m], _is_in(n, place, m, "writing")) for m in message)

    @suite.step
    def refused_was_next() -> Condition:
        """The target refuses only what comes next by the connection."""
        sent = {i: And(*(Not(s.stage[j].among("unsent", "refused")) for j in range(i))) for i in place}
        came = {m: any_of(And(s.queue[i] == m, s.stage[i] == "unsent", sent[i]) for i in place) for m in message}
        new = {m: And(_is_in(n, place, m, "refused"), Not(_is_in(s, place, m, "refused"))) for m in message}
        return all_of(Implies(new[m], came[m]) for m in message)

    if p.parameters["disconnects"] + p.parameters["write_failures"]:

        @suite.step
        def failures_are_of_something() -> Condition:
            """A connection ends with something that it has carried, and writes fail only where there are some."""
            carried, written = any_of(s.stage[i] != "unsent" for i in place), any_of(s.writing[m] for m in message)
            cut, failed = n.disconnects > s.disconnects, n.write_failures > s.write_failures
            return And(Implies(cut, carried), Implies(failed, written))

    @suite.step
    def replicated_was_in_the_queue() -> Condition:
        """Only what has been sent, and is at the head of the queue, becomes replicated."""
        new = {m: And(n.replicated.has(m), Not(s.replicated.has(m))) for m in message}
        return all_of(Implies(new[m], s.queue[0] == m) for m in message)

    if not p.has("dedup_by_sequence_id"):

        @suite.step
        def confirmed_is_remembered() -> Condition:
            """The producer remembers the last message that was confirmed."""
            new = {m: And(n.replicated.has(m), Not(s.replicated.has(m))) for m in message}
            return all_of(Implies(new[m], n.last > m) for m in message)

    @suite.sometimes
    def all_is_replicated() -> Condition:
        """Every message is replicated."""
        return all_of(s.replicated.has(m) for m in message)

    if p.parameters["disconnects"]:

        @suite.sometimes
        def cut_off_while_written() -> Condition:
            """A connection has ended, and what came by it is still being written."""
            return any_of(And(s.writing[m], _is_in(s, place, m, "unsent")) for m in message)

    @suite.leads_to
    def arrives() -> Leads:
        """What the source has stored is in the other cluster, in the end."""
        return [(s.published > m, s.copies[m] > 0) for m in message]

    return suite


def _is_in(s: GeoReplicationVariables, place: Universe, m: int, stage: Stage) -> Condition:
    """The formula: a message is in the queue, in this stage."""
    return any_of(And(s.queue[i] == m, s.stage[i] == stage) for i in place)
