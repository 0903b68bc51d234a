"""What differs between the families of releases of Kafka's controller, and the bugs that they have.

Read in the sources of releases of each family: 0.10.1.1; 0.10.2.2, whose methods the steps name first; 1.0.2, which handles
events on a thread of its own (ControllerEventManager); 1.1.0 and 2.0.1, which wait for the end of a session before they open
the next (KAFKA-5642); 2.1.1, which creates the node and raises the epoch in one request (KAFKA-6082); 2.2.2 and 3.9, which
number the incarnations of brokers (KIP-380). 4.0 has no controller on ZooKeeper.
"""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.model.releases import Behaviour

THREADS = ("lock", "queue", "awaited")

Family = Mapping[str, bool | int | str]

LOCK: Family = {"thread": "lock", "multi": False, "broker_epochs": False}
QUEUE: Family = {**LOCK, "thread": "queue"}
AWAITED: Family = {**LOCK, "thread": "awaited"}
MULTI: Family = {**AWAITED, "multi": True}
BROKER_EPOCHS: Family = {**MULTI, "broker_epochs": True}

RELEASES: Behaviour = {
    "0.10.1.1": LOCK,
    "0.10.2.2": LOCK,
    "1.0.2": QUEUE,
    "1.1.0": AWAITED,
    "2.0.1": AWAITED,
    "2.1.1": MULTI,
    "2.2.2": BROKER_EPOCHS,
    "3.9.1": BROKER_EPOCHS,
    "3.9.2": BROKER_EPOCHS,
}
"""By release the parameters of its family."""

BUGS = {
    "resigns_without_cleanup": "kafka#2935: a controller that resigns by itself deletes the node, and what it has started"
    " goes on",
    "epoch_swallowed": "a compare-and-set of the epoch that fails is logged, and the controller goes on with its predecessor's "
    "epoch",
    "deletes_any": "a controller that resigns deletes the node, whoever has it",
    "unconditional_writes": "KAFKA-6082: a controller writes without a look at the epoch, also on a session that began after "
    "it lost its office",
    "bounce_missed": "KAFKA-7235: the controller compares the ids of brokers, and misses one that is back between two looks",
    "newer_refused": "KAFKA-9839: a broker refuses a request that names a newer broker epoch than it knows of itself",
    "new_session_resigns": "KAFKA-4229: whatever node there is, a new session makes a controller resign; the second of two "
    "finds the node of the first, and nobody acts",
    "resigns_inside_lock": "KAFKA-4360: a resignation holds the lock, and waits for a task that wants it",
    "waits_inside_lock": "KAFKA-6879: a client that opens a new session holds a lock as it waits for a thread, which is in the "
    "middle of its work and wants the lock",
    "session_given_up": "KAFKA-5473: a client that cannot open a new session tries no second time",
    "registration_given_up": "KAFKA-7165: a broker that meets its own node of the session before, as it registers, tries no "
    "second time",
    "endpoints_read_before_watch": "a controller reads the nodes of the brokers before it watches them, and not again: a "
    "change of listeners between the two is missed",
    "epochs_unchecked": "a broker takes a request of an older epoch than it has seen",
}
