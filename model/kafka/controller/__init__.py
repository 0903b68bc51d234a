"""Which Kafka broker is the controller on ZooKeeper, and whom the brokers obey.

Mirrors ZookeeperLeaderElector, KafkaController, ReplicaStateMachine, ControllerChannelManager and ReplicaManager of Kafka
0.10.2.2; what later families do otherwise is a parameter (``families.py``). ``election.py`` has the election and the new
sessions, ``brokers.py`` registration and requests, ``client.py`` the client's sessions. ``protocol.py`` says what is one
step.

Not modelled: partitions and their leaders, topics, what the metadata say beyond who is live, KRaft.

Constants
    brokers              brokers that take part
    thread               where the end of a session is handled: lock, on the client's event thread (up to 0.10.2); queue, on
                         a thread of the controller (1.0); awaited, there and before a new session begins (since 1.1)
    multi                whether the node and its epoch are one request, as since 2.1
    broker_epochs        whether requests name the incarnation of a broker, as since 2.2
    expiries             times that the session of a live broker expires
    restarts             times that a broker stops, closes its session and is started again: a bounce
    disconnects          times that a broker is cut off, or that the answer to its creation is lost
    resignations         times that a failure makes a controller resign
    writes               whether the controller writes to the store
    updates              times that a broker changes its listeners, as it can since 1.1

Variables of sessions (zookeeper/sessions_and_nodes.py)
    lives                its process runs
    link                 its connection as it takes it: connected, suspended, or lost, when it has given its session up
    session, former_session
                         the store has its session; and one of its process before a restart

Variables of the store
    controller_holder    who created the node /controller, and so whom its value names; nobody if there is none
    controller_former, controller_version
                         it is of a former session of that client; its version, always 0

Variables of the brokers (watches are ZooKeeper's own: those that one missed fire when it is back)
    controller_change    for each broker, whether a watch of the node has fired that it has not handled
    controller_epoch     the number in /controller_epoch
    leader               whom a broker takes for the controller, or nobody (leaderId). Up to 0.10.2 it stays until an
                         election has read the node
    active               whether it runs what a controller runs (controllerChannelManager is set)
    stage                what its thread does: electing; unheard, to create the node once more, and refused, as the session
                         of that creation is over (both only with disconnects); created the node; epoch_read; idle; blocked
                         with the bug resigns_inside_lock only
    epoch                the epoch of its term, or what it read before its term
    new_sessions         new sessions that its thread has not handled. Not with thread=awaited
    registered           whether /brokers/ids/<b> is there
    registered_former    whether it is of a former session. Only with disconnects and restarts
    brokers_change       whether the watch of /brokers/ids has fired at a controller
    knows                for each two brokers, whether the first, as the controller, knows the present node of the second
    live                 for each two brokers, whether the first, as the controller, takes the second for live
    queued               for each two brokers, whether the first, as the controller, has an UpdateMetadata to send to the
                         second
    seen                 the newest epoch that the process of a broker has seen
    obeyed               the newest epoch that any process with that id has seen. Only with restarts
    metadata             for each two brokers, whether the first has heard that the second is live
    written              the epoch of the last write of a controller. Only with writes
    told                 for each two brokers, whether the first, as the controller, knows the present listeners of the second.
                         This and the next two only with updates
    watched              for each two brokers, whether the first, as the controller, watches the node of the second
    endpoints_change     for each two brokers, whether that watch has fired, which the first has not handled
    rebalances           whether a task runs that wants the lock. Only with the bug resigns_inside_lock
    has_own_epoch        whether a broker knows its own broker epoch. Only with the bug newer_refused
    shut_out             whether a broker's client opens no session any more. Only with the bugs waits_inside_lock and
                         session_given_up
    registration         whether a broker registers for the first time, again, or has given that up. Only with the bug
                         registration_given_up

Variables that count
    expiries, restarts, disconnects, resignations, updates, crashes
                         how often each event has happened, up to the constant of that name

Actions of sessions (zookeeper/sessions_and_nodes.py)
    disconnect, reconnect
                         a fault: its connection breaks; it is back. It takes its session for lost only when ZooKeeper says
                         so
    expire, learn_of_expiry, reestablish
                         a fault: the store drops the session of a process that lives, with its nodes; it hears so; it opens
                         a new one
    restart              it is started again, with a new session
    expire_dead, expire_former
                         the session of a process that has ended expires, with its nodes; and one from before a restart

Actions
    elect                broker: reads the node, and follows; or creates it
    creation_unheard     broker, a fault: creates it as the connection breaks, and does not hear of that
    create_again         broker: the request is sent again, and accepts the broker's own node
    give_creation_up     broker: the session of the creation is over, and so it resigns. Not with thread=awaited
    read_epoch           broker: reads the epoch. Not with multi
    fail_over            broker: raises the epoch, unless the creation did, and takes office
    hear_node            broker: a watch has fired: looks at the node, resigns if it is not named any more, elects if there
                         is none
    handle_new_session   broker: its thread comes to the end of a session: resigns and elects, unless the node names it
    resign               broker, a fault: a failure makes the controller resign: it deletes its node
    write                broker: the controller writes with its epoch
    register             broker: creates its node in /brokers/ids
    learn_own_epoch      broker: hears its broker epoch. Only with the bug newer_refused
    hear_brokers         broker: the controller looks at the brokers, and sends an UpdateMetadata to all if anything differs
    deliver              broker: a request reaches a broker, which takes it or refuses it
    change_listeners     broker: has other listeners, and writes them to its node
    watch_brokers        broker: the controller watches nodes that it has read. Only with the bug endpoints_read_before_watch
    hear_listeners       broker: the controller reads a node that has changed, and tells all brokers
    stop                 broker, a fault: stops, and closes its session
    register_in_vain     broker: meets its node of the session before, and gives up. Only with the bug registration_given_up
    give_session_up      broker: can open no new session. Only with the bug session_given_up
    begin_rebalance, end_rebalance
                         broker: the task that wants the lock. Only with the bug resigns_inside_lock

The properties are in ``properties/kafka_controller/suite.py``, with ``conduct.py`` beside it; the proof in
``properties/kafka_controller/lemmas.py``. ``BUGS`` has a line for each bug and weakening,
``properties/kafka_controller/bugs.toml`` the releases that have it.
"""

from fencepost.model.kafka.controller.protocol import kafka_controller

__all__ = ["kafka_controller"]
