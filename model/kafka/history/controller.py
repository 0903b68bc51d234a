"""When Kafka's controller on ZooKeeper had each of its mistakes; read in the sources of the modelled releases of Kafka.

``KC`` is KafkaController, ``LE`` ZookeeperLeaderElector, which 0.11 has no more. Numbers of lines are those of the release that
is named before them; those of 3.9.1 are as in its candidate 3.9.0-rc3, which was read.
"""

from __future__ import annotations

from fencepost.model.history import History

_LOCK = "0.10.1.1, 0.10.2.2, not 1.0.2 to 3.9.1"
_QUEUE = "0.10.1.1 to 1.0.2, not 1.1.0 to 3.9.1"
_AWAITED = "0.10.1.1 to 2.0.1, not 2.1.1 to 3.9.1"
_ONLY_0_10_1 = "0.10.1.1, not 0.10.2.2 to 3.9.1"

CONTROLLER: dict[str, History] = {
    "resigns_without_cleanup": History(
        "kafka",
        upstream=("#2935",),
        since="0.8.2 or before",
        fixed="0.11.0.0",
        releases=_LOCK,
        only={"thread": ("lock",)},
        costs="two controllers act at once, each with its own view, until the session of the old one ends",
        evidence="LE.resign sets leaderId to -1 and deletes the node (0.10.1.1:108-111, 0.10.2.2:109-112) without"
        " onControllerResignation, and LeaderChangeListener then takes the broker for none; KC.triggerControllerMove of"
        " 1.0.2:1652 resigns first",
    ),
    "epoch_swallowed": History(
        "kafka",
        since="0.8.2 or before",
        fixed="1.1.0",
        releases=_QUEUE,
        applies=lambda parameters: not parameters.get("multi"),
        costs="a zombie goes on as the controller with its predecessor's epoch, and brokers that have not heard of the newer"
        " one obey it",
        evidence="KC.incrementControllerEpoch throws ControllerMovedException inside the try whose last case logs it"
        " (0.10.1.1:697, 0.10.2.2:703-730, 1.0.2:665-690); 1.1.0:612-638 and 2.0.1:621-645 throw it on",
    ),
    "deletes_any": History(
        "kafka",
        upstream=("KAFKA-6082",),
        since="0.8.2 or before",
        fixed="2.1.0",
        releases=_AWAITED,
        costs="a controller that does nothing wrong is deposed by a broker that resigns late",
        evidence="LE.resign (0.10.2.2:111), KC.triggerControllerMove (1.0.2:1655, 2.0.1:1191) delete the path without a"
        " version; 2.1.1:1174-1189 reads the node and deletes with the version of the epoch",
    ),
    "unconditional_writes": History(
        "kafka",
        upstream=("KAFKA-6082", "#5101"),
        since="0.8.2 or before",
        fixed="2.1.0",
        releases=_AWAITED,
        only={"thread": ("lock", "queue")},
        costs="what the new controller has decided is overwritten by the old one",
        evidence="KC.updateAssignedReplicasForPartition of 0.10.2.2:995 and 1.0.2:1006 calls updatePersistentPath, without a"
        " version; KafkaZkClient of 2.1.1 checks the version of the epoch node in each write",
    ),
    "bounce_missed": History(
        "kafka",
        upstream=("KAFKA-7235", "#5821"),
        since="0.8.2 or before",
        fixed="2.2.0",
        releases="0.10.1.1 to 2.1.1, not 2.2.2, 3.9.1",
        costs="a broker that was started again serves nothing until something else changes: it has no metadata and leads"
        " nothing",
        evidence="ReplicaStateMachine.BrokerChangeListener compares ids (0.10.2.2:359-376), and so do KC.BrokerChange of"
        " 1.0.2:1203-1217 and 2.0.1:1228-1238; 2.2.2:1299 compares broker epochs",
    ),
    "newer_refused": History(
        "kafka",
        upstream=("KAFKA-9839", "#8509"),
        since="2.2.0",
        fixed="2.6.0",
        releases="2.2.2, not 0.10.1.1 to 2.1.1, 3.9.1",
        applies=lambda parameters: bool(parameters.get("broker_epochs", True)),
        costs="the metadata of a broker stay those of before its new session until something else changes",
        evidence="KafkaApis.isBrokerEpochStale throws IllegalStateException for a larger epoch (2.2.2:2406-2416); 2.8.2:3313"
        " and 3.9 answer that it is not stale",
    ),
    "new_session_resigns": History(
        "kafka",
        upstream=("KAFKA-4229", "#2175"),
        since="0.9 or before",
        fixed="0.10.2.0",
        releases=_ONLY_0_10_1,
        only={"thread": ("lock",)},
        costs="no broker is the controller until the broker that the node names is restarted",
        evidence="KC.SessionExpirationListener.handleNewSession resigns and elects in any case (0.10.1.1:1164-1169);"
        " 0.10.2.2:1169-1188 leaves it where the node names the broker",
    ),
    "own_node_ignored": History(
        "kafka",
        upstream=("KAFKA-13407", "#11476"),
        since="0.8.2 or before",
        releases="0.10.1.1 to 3.9.1",
        costs="no broker is the controller until the broker that the node names is restarted",
        evidence="elect returns if the node names any broker, also the own one (LE 0.10.1.1:71, 0.10.2.2:76-79; KC 1.0.2:1658,"
        " 2.0.1:1202, 2.1.1:1207, 2.2.2:1257, 3.9.1:1554); the change that was proposed upstream was closed",
    ),
    "resigns_inside_lock": History(
        "kafka",
        upstream=("KAFKA-4360", "#2094"),
        since="0.9 or before",
        fixed="0.10.2.0",
        releases=_ONLY_0_10_1,
        only={"thread": ("lock",)},
        costs="the thread that handles all that the broker hears of ZooKeeper is blocked forever, in a deadlock",
        evidence="KC.SessionExpirationListener.handleNewSession holds controllerLock while onControllerResignation waits for"
        " autoRebalanceScheduler (0.10.1.1:1164-1169); 0.10.2.2 resigns outside",
    ),
    "waits_inside_lock": History(
        "kafka",
        upstream=("KAFKA-6879", "#4977"),
        since="1.1.0",
        fixed="1.1.1",
        releases="1.1.0, not 0.10.1.1 to 1.0.2, 2.0.1 to 3.9.1",
        only={"thread": ("awaited",)},
        costs="the broker has no session, and handles nothing that concerns the controller, until it is restarted",
        evidence="ZooKeeperClient.scheduleSessionExpiryHandler of 1.1.0:355-366 has the write lock of initializationLock while"
        " KC.beforeInitializingSession (160-164) waits for the controller's thread; handleRequests (137) wants the read lock."
        " 2.0.1:333-338 calls it outside",
    ),
    "session_given_up": History(
        "kafka",
        upstream=("KAFKA-5473", "#3990"),
        since="0.8.2 or before",
        fixed="1.1.0",
        releases=_QUEUE,
        only={"thread": ("lock", "queue")},
        costs="the broker has no session until it is restarted: it is not registered, and is no candidate",
        evidence="KafkaHealthcheck.handleSessionEstablishmentError only logs (0.10.1.1:109, 0.10.2.2:110, 1.0.2:126); ZkClient"
        " has closed the session before; ZooKeeperClient.initialize of 1.1.0:328-346 tries until it has one",
    ),
    "registration_given_up": History(
        "kafka",
        upstream=("KAFKA-7165", "#5575", "ZOOKEEPER-2985"),
        since="0.9 or before",
        fixed="2.2.0",
        releases="0.10.1.1 to 2.1.1, not 2.2.2, 3.9.1",
        costs="the broker is not registered, so no partition has its leader there, until its next session",
        evidence="ZkUtils.registerBrokerInZk throws if the node is of another session (0.10.1.1:393, 0.10.2.2:408, 1.0.2:440),"
        " and so does CheckedEphemeral (1.1.0:1498, 2.0.1:1547, 2.1.1:1653); 2.2.2:1776 deletes the node of the session that it"
        " remembers, and creates it again",
    ),
    "epochs_unchecked": History(
        "kafka",
        releases="not 0.10.1.1 to 3.9.1",
        evidence="ReplicaManager.maybeUpdateMetadataCache compares epochs (0.10.1.1:633, 0.10.2.2:627, 1.0.2:982, 2.0.1:1000,"
        " 2.1.1:999, 2.2.2:1023)",
    ),
}
