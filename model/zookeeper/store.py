"""A store of sessions and ephemeral nodes as a library shows it to its clients: ZooKeeper, and what others do otherwise.

Which stores there are behind pulsar-metadata, and what was read for each, is in model/pulsar/stores.py.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClientMethods:
    """The methods of a library that the steps of its sessions mirror, ``Class.method`` each, by the name of the step.

    A step without any mirrors only what ZooKeeper's own client does.
    """

    disconnect: str = ""
    lose: str = ""
    reconnect: str = ""
    resume: str = ""
    learn_of_expiry: str = ""
    reestablish: str = ""
    reestablish_unheard: str = ""
    start: str = ""


@dataclass(frozen=True)
class Store:
    """How a store of sessions and ephemeral nodes differs from others.

    ``reuses_versions``: a node that is created again has version 0 again, so that a version which was remembered of an earlier
    one fits it. ``deletes_any``: a deletion that expects version -1 deletes whatever node is there; elsewhere it is refused.
    ``refuses_missing``: to delete a node by version that is gone already is BadVersion, and not NotFound. ``catches_up``: what
    happened while a client was cut off it hears of when it is back. ``tells``: clients are told what becomes of their sessions.
    ``renews``: a client that has given its session up opens a new one although the former is still there. ``ordered``: the
    answer to a creation comes before the notification that the node was deleted. ``in_process``: there is one client, whose
    session lasts as long as its process. ``times_out``: a client that was cut off takes its session for lost by a clock of its
    own. ``methods`` are those of the library that the client reaches it with.
    """

    reuses_versions: bool = True
    deletes_any: bool = False
    refuses_missing: bool = False
    catches_up: bool = False
    tells: bool = True
    renews: bool = False
    ordered: bool = True
    in_process: bool = False
    times_out: bool = False
    methods: ClientMethods = ClientMethods()


ZOOKEEPER = Store(deletes_any=True)
"""ZooKeeper itself: a version is the data version, which begins again with the node, and -1 is any (DataTree of 3.9.5)."""
