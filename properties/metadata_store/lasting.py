"""What must hold of the node that lasts, which clients write by compare-and-set."""

from __future__ import annotations

from fencepost.model.language import And, Condition, If, Implies, Not, Or, all_of, any_of
from fencepost.model.pulsar.store_changes import UNDER_WAY, UNKNOWN
from fencepost.model.pulsar.stores import store_of
from fencepost.properties.metadata_store.variables import MetadataStoreVariables
from fencepost.properties.vocabulary import Leads, Suite


def lasting_conduct(suite: Suite) -> None:
    """Adds the properties of the lasting node to the suite of an instance that has it."""
    p = suite.protocol
    s, n = MetadataStoreVariables.of(p)
    client = p.universes["client"]
    kind = store_of(p.parameters)

    def reaches(c: int) -> Condition:
        return And(s.lives[c], s.session[c], s.link[c] == "connected")

    def is_current(c: int) -> Condition:
        return And(reaches(c), Not(s.lasting_change[c]), s.change[c] != "changing")

    @suite.always
    def known_versions_are_current() -> Condition:
        """A client that is connected and has heard of all that has happened knows the version that is there, or none."""
        return all_of(Implies(And(is_current(c), s.saw[c] != UNKNOWN), s.saw[c] == s.lasting_version) for c in client)

    @suite.step
    def changes_follow_the_known() -> Condition:
        """The node is written by one who knows the version that it had, and has the next one then."""
        rises = n.lasting_version != s.lasting_version
        by_one = any_of(And(reaches(c), s.change[c] == "changing", s.saw[c] == s.lasting_version) for c in client)
        return Implies(rises, And(n.lasting_version == s.lasting_version + 1, by_one))

    @suite.step
    def changes_are_answered_truly() -> Condition:
        """A write that is answered with a version has been carried out; one that is refused has not."""

        def follows(c: int) -> Condition:
            asked = And(s.lives[c], n.lives[c], s.change[c] == "changing")
            rises = n.lasting_version == s.lasting_version + 1
            is_late = s.saw[c] != s.lasting_version
            return And(
                Implies(And(asked, n.change[c] == "done"), And(rises, n.saw[c] == n.lasting_version)),
                Implies(And(asked, n.change[c] == "bad_version"), is_late),
                Implies(And(asked, n.change[c].among("bad_version", "failed")), n.lasting_version == s.lasting_version),
            )

        return all_of(follows(c) for c in client)

    @suite.step
    def changes_are_told() -> Condition:
        """A client that is connected hears of what another has written; nobody hears of what did not happen."""
        rises = n.lasting_version != s.lasting_version

        def follows(c: int) -> Condition:
            hears = s.lives[c] if kind.catches_up else reaches(c)
            is_told = And(n.lasting_change[c], Not(s.lasting_change[c]))
            wrote = Or(n.change[c] != s.change[c], n.link[c] != s.link[c])
            return And(Implies(is_told, And(rises, hears)), Implies(And(rises, hears, Not(wrote)), n.lasting_change[c]))

        return all_of(follows(c) for c in client)

    @suite.leads_to
    def changes_are_heard_of() -> Leads:
        """What a client is to hear of the lasting node it hears of in the end, and its requests are answered."""
        heard = [(s.lasting_change[c], Not(s.lasting_change[c])) for c in client]
        return heard + [(s.change[c].among(*UNDER_WAY), Not(s.change[c].among(*UNDER_WAY))) for c in client]

    if client.size > 1:

        @suite.sometimes
        def write_is_late() -> Condition:
            """A client is about to write with a version that is gone."""
            return any_of(And(s.change[c] == "changing", s.saw[c] != s.lasting_version) for c in client)

    @suite.lemma
    def known_versions_follow_changes() -> Condition:
        """What a connected client knows of the lasting node is so, or a change is on its way."""
        return known_versions_are_current()

    @suite.lemma
    def writers_know_a_version() -> Condition:
        """Who writes knows a version; nobody knows one that was not there yet; a process that has ended knows none."""
        return all_of(
            And(
                Implies(s.change[c] == "changing", And(s.saw[c] != UNKNOWN, s.saw[c] < p.parameters["changes"])),
                If(s.lives[c], s.saw[c] <= s.lasting_version, And(s.saw[c] == UNKNOWN, s.change[c] == "none")),
                Implies(Not(s.lives[c]), Not(s.lasting_change[c])),
            )
            for c in client
        )
