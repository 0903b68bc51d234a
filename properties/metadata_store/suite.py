"""What must hold of the metadata store and its clients, whatever is built on it, and why it does."""

from __future__ import annotations

from fencepost.model.language import And, Condition, Implies, Not, Or, Protocol, Truth, all_of, any_of
from fencepost.model.nobody import NOBODY
from fencepost.model.pulsar.store_clients import OUT, Request
from fencepost.model.pulsar.stores import store_of
from fencepost.properties.locks.sessions import session_conduct
from fencepost.properties.metadata_store.lasting import lasting_conduct
from fencepost.properties.metadata_store.variables import MetadataStoreVariables
from fencepost.properties.vocabulary import Leads, Suite


def metadata_store(p: Protocol) -> Suite:
    """The properties of an instance that ``fencepost.model.pulsar.store_clients.metadata_store`` built."""
    s, n = MetadataStoreVariables.of(p)
    settings = p.parameters
    suite = Suite(p)
    client, path = p.universes["client"], p.universes["path"]
    pairs = [(c, x) for c in client for x in path]
    kind = store_of(settings)
    several = client.size > 1
    restarts = settings["crashes"] > 0 and not kind.in_process
    renews = settings["disconnects"] > 0 and kind.renews

    def is_out(c: int, x: int) -> Condition:
        return s.request[c, x].among(*OUT)

    def reaches(c: int) -> Condition:
        return And(s.lives[c], s.session[c], s.link[c] == "connected")

    def is_current(c: int, x: int) -> Condition:
        """The client is connected and has heard of all that has happened; what a deletion is meant for it keeps in mind."""
        return And(reaches(c), Not(s.node_deletion[x, c]), s.request[c, x] != "deleting")

    # --- what must always hold

    @suite.always
    def nodes_go_with_their_sessions() -> Condition:
        """A node's session is there: its creator's present one, or a former one."""

        def is_there(c: int, x: int) -> Condition:
            return Or(And(s.node_former[x], s.former_session[c]), And(Not(s.node_former[x]), s.session[c]))

        return all_of(Implies(s.node_holder[x] == c, is_there(c, x)) for c, x in pairs)

    @suite.always
    def what_is_known_is_so() -> Condition:
        """A client that is connected and has heard of all that has happened knows a node that is there, as it is."""

        def is_so(c: int, x: int) -> Condition:
            own = s.mine[c, x] == And(s.node_holder[x] == c, Not(s.node_former[x]))
            return And(s.node_holder[x] == s.knows[c, x], own, s.known_version[c, x] <= s.node_version[x])

        return all_of(Implies(And(is_current(c, x), s.knows[c, x] != NOBODY), is_so(c, x)) for c, x in pairs)

    @suite.strict(
        "a node that is created again has version 0 again: the deletion of an earlier one fits it, whosoever it is",
        when=several and kind.reuses_versions,
    )
    def deletions_mean_the_node() -> Condition:
        """A deletion that would take effect does so on the node of whom it is meant for."""

        def fits(c: int, x: int) -> Condition:
            known = True if kind.reuses_versions else s.node_knows_version[x, c]
            return And(known, s.request[c, x] == "deleting", s.node_version[x] == s.known_version[c, x])

        there = {x: s.node_holder[x] != NOBODY for x in path}
        return all_of(Implies(And(fits(c, x), there[x]), s.knows[c, x] == s.node_holder[x]) for c, x in pairs)

    # --- what every step must respect

    if several:

        @suite.step
        def nodes_are_taken_when_free() -> Condition:
            """Nobody takes a node from its holder: it is deleted before another one is created."""
            return all_of(
                Or(s.node_holder[x] == NOBODY, n.node_holder[x] == NOBODY, n.node_holder[x] == s.node_holder[x]) for x in path
            )

    @suite.step
    def nodes_go_by_request() -> Condition:
        """A node goes with its session, or where somebody's request to delete it is carried out."""

        def follows(x: int) -> Condition:
            gone = And(s.node_holder[x] != NOBODY, n.node_holder[x] == NOBODY)
            ended = any_of(And(s.session[c], Not(n.session[c])) for c in client)
            former = any_of(And(s.former_session[c], Not(n.former_session[c])) for c in client)
            asked = any_of(And(reaches(c), s.request[c, x] == "deleting") for c in client)
            return Implies(gone, Or(ended, former, asked))

        return all_of(follows(x) for x in path)

    if settings["writes"]:

        @suite.step
        def deletions_name_the_version() -> Condition:
            """A node that is deleted by request has the version that the deletion names."""

            def deletes(c: int, x: int) -> Condition:
                gone = And(s.node_holder[x] != NOBODY, n.node_holder[x] == NOBODY)
                moved = Or(n.request[c, x] != "deleting", n.link[c] != s.link[c])
                return And(gone, reaches(c), s.request[c, x] == "deleting", moved, n.lives[c], n.session[c])

            return all_of(Implies(deletes(c, x), s.node_version[x] == s.known_version[c, x]) for c, x in pairs)

    @suite.step
    def answers_are_true() -> Condition:
        """A client hears the result of its own request, and of no other."""

        def answered(c: int, x: int, asked: Request, answer: Request) -> Condition:
            return And(s.lives[c], n.lives[c], s.request[c, x] == asked, n.request[c, x] == answer)

        def follows(c: int, x: int) -> Condition:
            absent = s.node_holder[x] == NOBODY
            created = And(absent, n.node_holder[x] == c, Not(n.node_former[x]), n.knows[c, x] == c, n.mine[c, x])
            has_read = And(n.knows[c, x] == s.node_holder[x], n.known_version[c, x] == s.node_version[x])
            failed = And(Not(s.session[c]), n.node_holder[x] == s.node_holder[x])
            changed = And(n.request[c, x] != s.request[c, x], is_out(c, x), n.lives[c])
            return And(
                Implies(answered(c, x, "creating", "done"), created),
                Implies(answered(c, x, "creating", "bad_version"), And(Not(absent), n.node_holder[x] == s.node_holder[x])),
                Implies(answered(c, x, "reading", "done"), And(has_read, n.node_holder[x] == s.node_holder[x])),
                Implies(answered(c, x, "deleting", "done"), And(Not(absent), n.node_holder[x] == NOBODY)),
                Implies(answered(c, x, "deleting", "not_found"), absent),
                Implies(answered(c, x, "deleting", "bad_version"), n.node_holder[x] == s.node_holder[x]),
                Implies(And(changed, n.request[c, x] == "failed"), failed),
                Implies(changed, Or(reaches(c), n.request[c, x] == "failed")),
            )

        return all_of(follows(c, x) for c, x in pairs)

    @suite.ends
    def no_deadlock() -> Truth:
        """A client that lives can ask for something: a run has no end."""
        return False

    # --- what must happen in the end

    @suite.leads_to
    def requests_are_answered() -> Leads:
        """A request is answered in the end, or its process has ended."""
        return [(is_out(c, x), Not(is_out(c, x))) for c, x in pairs]

    @suite.leads_to
    def deletions_are_heard_of() -> Leads:
        """What a client is to hear of it hears of in the end, unless its connection breaks."""
        return [(s.node_deletion[x, c], Not(s.node_deletion[x, c])) for c, x in pairs]

    if restarts or renews:

        @suite.leads_to
        def former_nodes_go() -> Leads:
            """A node of a former session goes in the end."""
            return [(s.node_former[x], Not(s.node_former[x])) for x in path]

    # --- what must be possible

    @suite.sometimes
    def node_is_known() -> Condition:
        """Every client knows a node, and each of them the same."""
        return any_of(And(s.node_holder[x] != NOBODY, *(s.knows[c, x] == s.node_holder[x] for c in client)) for x in path)

    if several:

        @suite.sometimes
        def deletion_is_late() -> Condition:
            """What a client is about to delete is gone."""
            return any_of(And(s.request[c, x] == "deleting", s.node_holder[x] == NOBODY) for c, x in pairs)

    if several and settings["expiries"]:

        @suite.sometimes
        def zombie_knows_its_node() -> Condition:
            """A client whose session is gone takes a node for its own that is another's."""
            taken = {(c, x): And(s.mine[c, x], s.node_holder[x] != NOBODY, s.node_holder[x] != c) for c, x in pairs}
            return any_of(And(s.lives[c], Not(s.session[c]), taken[c, x]) for c, x in pairs)

    if settings["disconnects"]:

        @suite.sometimes
        def creation_goes_unheard() -> Condition:
            """A client has created a node and does not know it."""
            own = {(c, x): And(s.node_holder[x] == c, Not(s.node_former[x])) for c, x in pairs}
            return any_of(And(s.request[c, x] == "creating", s.link[c] == "suspended", own[c, x]) for c, x in pairs)

    if restarts:

        @suite.sometimes
        def former_node_is_known() -> Condition:
            """A client knows a node of its former session."""
            return any_of(And(s.knows[c, x] == c, Not(s.mine[c, x]), s.node_former[x]) for c, x in pairs)

    # --- why

    @suite.lemma
    def faults_have_budgets() -> Condition:
        """What only a fault can bring about does not happen without one."""
        crashes, expires, breaks = settings["crashes"], settings["expiries"], settings["disconnects"]
        return And(
            *(s.lives[c] for c in client if not crashes),
            *(And(Not(s.former_session[c])) for c in client if not (restarts or renews)),
            *(Implies(s.lives[c], s.session[c]) for c in client if not expires),
            *(s.link[c] != "suspended" for c in client if not breaks),
            *(Implies(And(s.lives[c], s.session[c]), s.link[c] != "lost") for c in client if not breaks),
        )

    @suite.lemma
    def dead_clients_know_nothing() -> Condition:
        """Nothing is left of what a process knew and asked for."""
        blank = {(c, x): And(s.request[c, x] == "none", s.knows[c, x] == NOBODY) for c, x in pairs}
        return all_of(Implies(Not(s.lives[c]), blank[c, x]) for c, x in pairs)

    @suite.lemma
    def what_is_forgotten_is_blank() -> Condition:
        """Of what is not known there is no version; a client takes for its own what it created."""
        blank = {(c, x): And(Not(s.mine[c, x]), s.known_version[c, x] == 0) for c, x in pairs}
        return all_of(
            And(Implies(s.knows[c, x] == NOBODY, blank[c, x]), Implies(s.mine[c, x], s.knows[c, x] == c)) for c, x in pairs
        )

    @suite.lemma
    def deletions_are_of_something() -> Condition:
        """A client that deletes knows what."""
        return all_of(Implies(s.request[c, x] == "deleting", s.knows[c, x] != NOBODY) for c, x in pairs)

    @suite.lemma
    def nodes_belong_to_sessions() -> Condition:
        """A session that ends takes its nodes with it."""
        return nodes_go_with_their_sessions()

    @suite.lemma
    def knowledge_follows_deletions() -> Condition:
        """What a connected client knows is so, or its deletion is on its way."""
        return what_is_known_is_so()

    if settings["changes"]:
        lasting_conduct(suite)
    session_conduct(suite)
    return suite
