"""How clients of the metadata store, and the store, must conduct themselves, whatever protocol they are part of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fencepost.model.language import And, Choice, Condition, Family, Implies, Not, Number, Or, Protocol, Universe, all_of
from fencepost.model.language.declarations import Names
from fencepost.model.nobody import NOBODY, Nobody
from fencepost.model.pulsar.stores import store_of
from fencepost.model.zookeeper.store import Store
from fencepost.properties.locks.variables import SessionVariables
from fencepost.properties.vocabulary import Suite


@dataclass(frozen=True)
class Node:
    """An ephemeral node as its properties see it, before or after a step; ``deleted`` is by client."""

    holder: Choice[int | Nobody]
    former: Condition
    version: Number
    deleted: Family[Condition] | Sequence[Condition]


def clients_of(p: Protocol) -> Universe:
    """The clients of the store: brokers, or those that are nothing else."""
    return p.universes["broker" if "broker" in p.universes else "client"]


def nodes_of(p: Protocol) -> Sequence[tuple[Node, Node]]:
    """The ephemeral nodes of an election, of a protocol with locks, or of mere clients, to be gone through: each at ``p.state``
    and at ``p.next``."""
    s, n = p.state, p.next
    if "bundle" in p.universes:
        return p.universes["bundle"].each(lambda u: (_node(p, s, "owner", u), _node(p, n, "owner", u)))
    if "path" in p.universes:
        return p.universes["path"].each(lambda x: (_node(p, s, "node", x), _node(p, n, "node", x)))
    now, later = (Node(at.leader_holder, at.leader_former, at.leader_version, at.leader_deletion) for at in (s, n))
    return [(now, later)]


def _node(p: Protocol, at: Names, name: str, of: int) -> Node:
    holder, former, version = (getattr(at, f"{name}_{part}")[of] for part in ("holder", "former", "version"))
    deletion = getattr(at, f"{name}_deletion")
    return Node(holder, former, version, clients_of(p).each(lambda c: deletion[of, c]))


def session_conduct(suite: Suite) -> None:
    """Adds the rules of conduct of sessions and of the store to the suite of a protocol that uses them."""
    session_rules(suite)
    _node_rules(suite)


def session_rules(suite: Suite, kind: Store | None = None) -> None:
    """Adds the rules of conduct of sessions alone, whoever hears of what; ``kind`` is the store, if no parameter names it."""
    p = suite.protocol
    s, n = SessionVariables.of(p)
    settings = p.parameters
    client = clients_of(p)
    kind = kind or store_of(settings)

    def reaches(c: int) -> Condition:
        return And(s.lives[c], s.link[c] == "connected", s.session[c])

    @suite.step
    def links_follow_sessions() -> Condition:
        """A link breaks while it is there; it is given up when broken or without a session; and is back with a session."""

        def follows(c: int) -> Condition:
            before, after = s.link[c], n.link[c]
            given_up = Or(Not(n.lives[c]), And(s.lives[c], Or(before == "suspended", Not(s.session[c]))))
            back = And(n.lives[c], n.session[c], Or(s.session[c], before == "lost"))
            return Or(
                after == before,
                And(after == "suspended", before == "connected", s.lives[c]),
                And(after == "lost", given_up),
                And(after == "connected", back),
            )

        return all_of(follows(c) for c in client)

    @suite.step
    def sessions_come_and_go() -> Condition:
        """A session begins with a link, after the one before is given up; it ends by a fault, after its process, or closed."""

        def follows(c: int) -> Condition:
            began, ended = And(Not(s.session[c]), n.session[c]), And(s.session[c], Not(n.session[c]))
            by_fault, closed = n.expiries > s.expiries, And(Not(n.lives[c]), reaches(c))
            again = And(Not(s.lives[c]), n.lives[c])
            begins_anew = Or(again, s.link[c] == "lost") if kind.renews else again
            return And(
                Implies(began, And(n.lives[c], n.link[c] == "connected", Or(Not(s.lives[c]), s.link[c] == "lost"))),
                Implies(ended, Or(by_fault, Not(s.lives[c]), closed)),
                Implies(again, And(n.link[c] == "connected", n.session[c])),
                Implies(again, n.former_session[c] == Or(s.former_session[c], s.session[c])),
                Implies(And(n.former_session[c], Not(s.former_session[c])), begins_anew),
            )

        return all_of(follows(c) for c in client)

    if settings["disconnects"] and kind.times_out and settings.get("on_session_loss") != "shutdown":

        @suite.sometimes
        def session_given_up() -> Condition:
            """A client takes its session for lost, and it is still there."""
            return Or(*(And(s.lives[c], s.session[c], s.link[c] == "lost") for c in client))


def _node_rules(suite: Suite) -> None:
    """Adds who hears of the deletion of a node, and what is left of one."""
    p = suite.protocol
    s, n = SessionVariables.of(p)
    client, nodes = clients_of(p), nodes_of(p)
    kind = store_of(p.parameters)

    def will_hear(c: int) -> Condition:
        return s.lives[c] if kind.catches_up else And(s.lives[c], s.link[c] == "connected", s.session[c])

    @suite.step
    def deletions_are_heard() -> Condition:
        """A client that is connected, and stays one, hears of the deletion of a node; nobody hears of what did not happen.

        Where the store catches up, who lives does.
        """

        def follows(before: Node, after: Node, c: int) -> Condition:
            gone = And(before.holder != NOBODY, after.holder == NOBODY)
            is_told = And(after.deleted[c], Not(before.deleted[c]))
            return And(
                Implies(is_told, And(gone, will_hear(c))),
                Implies(And(gone, Or(will_hear(c), before.deleted[c]), n.session[c], n.lives[c]), after.deleted[c]),
            )

        return all_of(follows(before, after, c) for before, after in nodes for c in client)

    @suite.lemma
    def dead_clients_are_silent() -> Condition:
        """A process that has ended has no link, and nothing to hear of."""

        def is_silent(c: int) -> Condition:
            return And(s.link[c] == "lost", *(Not(node.deleted[c]) for node, _ in nodes))

        return all_of(Implies(Not(s.lives[c]), is_silent(c)) for c in client)

    @suite.lemma
    def absent_nodes_are_blank() -> Condition:
        """Nothing is left of a node that is not there."""
        return all_of(Implies(node.holder == NOBODY, And(Not(node.former), node.version == 0)) for node, _ in nodes)
