"""A cluster, from a producer's acknowledgement to the reader: who owns the bundle has the topic, whose messages are in
ledgers.

Mirrors nothing by itself: it is made of parts (``protocol.py``, ``bundle.py``). Ownership, ledgers and the copies of the
first ledger are stand-ins (stand_ins/), which the protocols of locks, of the channel and of BookKeeper refine; the topic is
the whole one (pulsar/topic). A bug of a part enters by a weak move of its stand-in.

Not modelled: which broker gets a bundle, more than two bundles, whatever the topic leaves out, a broker that gives a bundle up
when the topic that has met the fence is gone already, and of a broker that goes on with a former store whatever it does with
that besides listing new ledgers of the topics that it has, at a list that nobody had changed before. docs/explanation/parts.md
says what the stand-ins leave out.

Constants
    brokers              how many there are
    bundles              bundles, each with a topic: one, or two if no broker crashes
    expiries             times that the session of an owner expires
    disconnects          times that a broker does not hear that its node is created, and finds it later
    copies               copies that the first ledger is to have; 0: nobody looks at them
    disk_losses          disks with such a copy that are lost
    unloads              times that an owner gives the bundle up
    rolls                times that a ledger is closed for its age
    gives_up             whether a broker that meets the fence of the next owner gives the bundle up, as since 5.0.1

Variables
    bundle.owner         the broker whose node says that it owns the bundle
    bundle.believes      whether a broker takes itself for the owner: clients are led to it
    bundle.expiries      sessions that have expired
    bundle.apart         whether a broker goes on with the store from which the metadata were migrated. Only with the weak
                         moves left_behind and passed_over
    given_up             whether a broker has given the bundle up, and still looks after its lock. Only with gives_up
    first.copies         how many bookies that the metadata name have all of the first ledger
    first.losses         disks that were lost

Variables that count
    disconnects, unloads how often each event has happened, up to the constant of that name
    migrations           whether the metadata were migrated. Only with these weak moves

Actions
    acquire              broker: creates the node, and takes itself for the owner
    take                 broker: is started again, and finds its own node
    create_unheard       broker, a fault: the node is created as the connection breaks, and the broker does not hear of it
    load                 broker: takes itself for the owner, and opens the topic
    attach               producer: is led to a broker that takes itself for the owner, and connects
    expire               broker, a fault: the session of an owner that lives expires
    hear_loss            broker: hears that its node is gone, and closes the topic
    stop_serving         broker: a topic has met the fence of the next owner, its session being lost: gives the bundle up, and
                         keeps the lock. Only with gives_up
    recreate             broker: creates the node again for that lock. Only with gives_up
    die                  broker, a fault: the process ends
    unload               broker: gives the bundle up
    meet_deletion        store, a fault: with the weak move: a deletion that was meant for an earlier node meets that of an
                         owner
    migrate_without      coordinator: with the weak move left_behind: the metadata are migrated to another store, and a broker
                         whose session is gone goes on with the former one, alone
    migrate_past         broker, a fault: with the weak move passed_over: likewise, of one that is cut off and has its session
    lose_disk            bookie, a fault: loses its disk, with a copy of the first ledger, which is closed
    replicate            worker: copies the first ledger until it has as many copies as it should
    drop_copy            worker, a fault: with the weak move: the metadata name one copy fewer
    vanish               store: the node of a broker that gave the bundle up, or died, is deleted

Parts
    topic                the other constants, variables and actions: model/pulsar/topic/__init__.py has a line for each

The properties are in ``properties/cluster/suite.py``. ``BUGS`` has a line for each bug and weakening,
``properties/cluster/bugs.toml`` the releases that have it.
"""

from fencepost.model.cluster.protocol import BUGS, OfPart, cluster

__all__ = ["BUGS", "OfPart", "cluster"]
