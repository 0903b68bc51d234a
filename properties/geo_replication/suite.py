"""What must hold of a topic that is replicated to another cluster."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, all_of
from fencepost.model.pulsar.geo_replication import NONE
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
    def sent_in_order() -> Condition:
        """What is sent by a connection is the first of the queue."""
        return all_of(Implies(s.stage[i] == "unsent", s.stage[i + 1] == "unsent") for i in place if i + 1 in place)

    if dedup:

        @suite.always
        def persisted_was_pushed() -> Condition:
            """Deduplication knows nothing as stored that was not taken."""
            return all_of(s.persisted[k] <= s.pushed[k] for k in p.universes["sender"])

    @suite.step
    def copies_stay() -> Condition:
        """A copy stays, and at most one is stored at a time."""
        return all_of(And(n.copies[m] >= s.copies[m], n.copies[m] <= s.copies[m] + 1) for m in message)

    @suite.step
    def replicated_was_in_the_queue() -> Condition:
        """Only what has been sent, and is at the head of the queue, becomes replicated."""
        new = {m: And(n.replicated.has(m), Not(s.replicated.has(m))) for m in message}
        return all_of(Implies(new[m], s.queue[0] == m) for m in message)

    @suite.sometimes
    def all_is_replicated() -> Condition:
        """Every message is replicated."""
        return all_of(s.replicated.has(m) for m in message)

    @suite.leads_to
    def arrives() -> Leads:
        """What the source has stored is in the other cluster, in the end."""
        return [(s.published > m, s.copies[m] > 0) for m in message]

    return suite
