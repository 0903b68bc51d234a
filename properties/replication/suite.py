"""What must hold of auto-recovery: no copy is given up before there is another, and a ledger becomes whole in the end."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, all_of, any_of, at_least, how_many
from fencepost.properties.replication.conduct import replication_conduct
from fencepost.properties.replication.liveness import replication_liveness
from fencepost.properties.replication.refinement import replication_refinement
from fencepost.properties.replication.variables import ReplicationVariables, Terms
from fencepost.properties.vocabulary import Suite


def replication(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.bookkeeper.replication`` built."""
    s, n = ReplicationVariables.of(p)
    settings = p.parameters
    suite, t = Suite(p), Terms(p)
    bookie, entry, place, worker = t.bookie, t.entry, t.place, t.worker

    @suite.always
    def members_are_distinct() -> Condition:
        """No bookie is in the ensemble twice."""
        return all_of(s.member[i] != s.member[j] for i in place for j in place if i < j)

    @suite.step
    def copies_are_not_fewer() -> Condition:
        """Unless a fault takes a copy, a confirmed entry never has fewer good copies at bookies that the metadata name."""
        copies = [
            Implies(And(s.confirmed.has(e), at_least(k, t.holders(s, e))), at_least(k, t.holders(n, e)))
            for e in entry
            for k in range(1, place.size + 1)
        ]
        return Implies(And(t.unharmed(), n.confirmed == s.confirmed), And(*copies))

    @suite.step
    def replaced_by_holders() -> Condition:
        """A bookie that the metadata name from a step on has all that is confirmed."""
        return all_of(Implies(And(Not(t.named(s, b)), t.named(n, b)), t.holds_all(s, b)) for b in bookie)

    @suite.step
    def only_closed_fragments_change() -> Condition:
        """The ensemble of a fragment changes only when nobody adds to it any more."""
        return Implies(any_of(s.member[i] != n.member[i] for i in place), s.status == "closed")

    @suite.step
    def closed_is_final() -> Condition:
        """A closed ledger stays closed, and gets no entry more."""
        return Implies(s.status == "closed", And(n.status == "closed", n.confirmed == s.confirmed))

    @suite.step
    def locks_are_kept() -> Condition:
        """A lock goes only when its holder ends its work or loses its session."""
        return all_of(
            Implies(And(s.lock == f"w{w}", n.lock != f"w{w}"), Or(n.phase[w] != s.phase[w], n.zombie[w] != s.zombie[w]))
            for w in t.locking
        )

    if settings["collects"] and not any(settings[fault] for fault in ("losses", "gaps", "rots")):

        @suite.step
        def collected_is_surplus() -> Condition:
            """What a collector deletes, as many bookies that the metadata name have as an ensemble has."""
            return all_of(
                Implies(
                    And(t.unharmed(), s.confirmed.has(e), s.stored[b].has(e), Not(n.stored[b].has(e))),
                    how_many(*t.holders(s, e)) == place.size,
                )
                for e in entry
                for b in bookie
            )

    if settings["handle"]:

        @suite.step
        def handles_know_the_ensemble() -> Condition:
            """What a handle that is open knows of the ensemble is what it was, or is as a whole."""
            stays, is_new = (all_of(n.handle[i] == known[i] for i in place) for known in (s.handle, s.member))
            return And(Or(stays, is_new), Implies(Not(stays), all_of(n.member[i] == s.member[i] for i in place)))

    # --- what must be possible

    if settings["handle"] and settings["workers"] and bookie.size > place.size:

        @suite.sometimes
        def handle_has_a_new_member() -> Condition:
            """A handle has heard that a bookie was replaced."""
            return any_of(s.handle[i] != i for i in place)

    if settings["workers"] and settings["crashes"] and bookie.size > place.size:

        @suite.sometimes
        def replaced_and_whole() -> Condition:
            """A bookie was replaced, the task is done, and the ledger is whole."""
            return And(any_of(s.member[i] != i for i in place), Not(s.task), t.is_whole())

    if settings["collects"] and settings["crashes"]:

        @suite.sometimes
        def surplus_is_collected() -> Condition:
            """A bookie that has been replaced is up and has nothing of the ledger any more."""
            return any_of(And(Not(t.named(s, i)), s.up[i], s.stored[i].is_empty) for i in place)

    beside = settings["commands"] and settings["disable"] != "wait"
    if len(worker) > 1 and (beside or settings["expiries"]) and settings["crashes"]:

        @suite.sometimes
        def two_work_at_once() -> Condition:
            """Two replace bookies of the ledger at once."""
            return at_least(2, (s.phase[w] == "choosing" for w in worker))

    if settings["opened"]:

        @suite.sometimes
        def closed_by_its_writer() -> Condition:
            """The ledger is closed before anything has happened to a bookie."""
            return And(s.status == "closed", s.crashes == 0, s.losses == 0)

    if settings["opened"] and settings["crashes"] and settings["workers"]:

        @suite.sometimes
        def writer_may_be_fenced() -> Condition:
            """A worker waits to close the ledger of a writer that could still add to it."""
            some_up = any_of(s.up[b] for b in bookie)
            return And(s.status == "open", any_of(s.phase[w] == "grace" for w in t.locking), some_up)

    if settings["cuts"] and settings["workers"]:

        @suite.sometimes
        def replaced_though_it_is_reached() -> Condition:
            """A bookie was replaced that clients have reached all the time, and that the auditor misses."""
            return any_of(And(s.cut[i] == "store", s.stored[i].has(0), Not(t.named(s, i))) for i in place)

        if settings["opened"]:

            @suite.sometimes
            def fenced_though_all_are_reached() -> Condition:
                """Auto-recovery waits to close a ledger to which its writer can still add at every member."""
                graced = any_of(s.phase[w] == "grace" for w in t.locking)
                reached = all_of(Implies(t.named(s, b), t.reached(s, b)) for b in bookie)
                return And(s.status == "open", graced, reached, any_of(s.cut[b] == "store" for b in bookie))

    replication_conduct(suite, t)
    replication_liveness(suite, t)
    if p.formulates("sometimes"):
        replication_refinement(suite, t)
    return suite
