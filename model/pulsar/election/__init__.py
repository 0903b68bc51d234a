"""Which broker leads: one ephemeral node that every broker tries to create.

Mirrors LeaderElectionImpl and LeaderElectionService of pulsar-metadata and pulsar-broker, and of
NamespaceService.searchForCandidateBroker the part that asks the leader. With ``leads=created`` as in Pulsar 4.2.4, 5.0.0-M1
and 5.0.1, with ``leads=confirmed`` as in 4.0.8; without the bugs that are switches.

A broker looks at the node. If there is none it creates it, and leads; if there is one it follows whoever holds it; its own
node of a former session it deletes first. It begins again when it hears that the node was deleted, when its connection or its
session is back, and after a failure. ``protocol.py`` says which of these are one step, and why; ``lookups.py`` has the
lookup.

Not modelled: a migration between metadata stores, two elections of one broker under way at once, which broker the leader
chooses, and what else it does; docs/explanation/deviations.md says of each what that leaves out.

Constants
    brokers              brokers that take part
    on_session_loss      reconnect or shutdown (zookeeperSessionExpiredPolicy)
    metadata_store       the store by the scheme of its URL: zk, etcd, oxia, rocksdb or memory
    leads                when a broker that creates the node leads: confirmed, when the read that follows is back, as up to
                         4.0.8; created, when the creation is answered, as since 4.2.4
    close                how a broker that shuts down deletes the node: unconditional, as up to 5.0.0-M1; looked, as since
                         5.0.1: of the version that it reads, if the node is of its session; or by_version: of the version
                         that it created
    disconnects          times that a broker loses its connection, or the answer to a request with it
    expiries             times that the session of a live broker expires
    crashes              times that a broker dies
    closes               times that a broker shuts down
    lookups              whether there is a lookup
    fixed                not upstream: a deletion names the creation that it means, and a broker that has created the node
                         looks whether it is still there before it leads

Variables of sessions (zookeeper/sessions_and_nodes.py)
    lives                its process runs
    link                 its connection as it takes it: connected, suspended, or lost, when it has given its session up
    session, former_session
                         the store has its session; and one of its process before a restart

Variables of the store
    leader_holder        who created the node leader, and so whom its value names; nobody if there is none
    leader_former, leader_version
                         it is of a former session of that client; its version, always 0
    leader_deletion      of each client: a notification of its deletion is on its way
    leader_knows_version of each client: the version that it knows is of the node that is there. Only with Oxia

Variables of the brokers
    stage                how far its election is: looking at the node, proposing itself, confirming that it created the
                         node, retaking what a former session left, waiting after a failure, settled, closed. With the bug
                         closed_goes_on also withdrawing what it created when it was closed
    role                 what it believes meanwhile: no_leader, leading, following. It only changes when an election settles
                         or a deletion is heard of
    begun                what began the election that is under way, or the last one: the start of the process, a new session
                         (the first of two elections), another event of a session, or a try after a failure, a deletion.
                         Only with the bug failure_not_retried
    closing              whether it shuts down, whatever its stage. Only with closes
    shut                 whether its election is closed while a request of it is out. Only with the bug closed_goes_on, as
                         gives_back
    gives_back           whether the deletion of the node by which it closes is out
    cached               who it takes for the leader, or nobody

Variables of the lookup
    asked                the broker that has the lookup now, or nobody
    authoritative        whether the lookup says that this broker was chosen

Variables that count
    disconnects, expiries, crashes, closes
                         how often each event has happened, up to the constant of that name

Actions of sessions (zookeeper/sessions_and_nodes.py)
    disconnect, lose, reconnect, resume
                         a fault: its connection breaks; it takes its session for lost by its own clock; it is back before
                         that; after it, and the session is still there
    expire, learn_of_expiry, reestablish
                         a fault: the store drops the session of a process that lives, with its nodes; it hears so; it opens
                         a new one
    crash, restart       a fault: its process ends; it is started again, with a new session
    expire_dead, expire_former
                         the session of a process that has ended expires, with its nodes; and one from before a restart

Actions of the brokers, and of a client with its lookup
    find_none            looks, and there is no node
    find_own             finds its node of this session: it leads
    find_former          finds its node of a former session, and will delete it
    find_other           finds another broker's node: it follows
    propose              creates the node if it is absent; otherwise it looks again. With leads=created it leads
                         then
    confirm              the read after the creation is back, whatever it says: it leads. Only with leads=confirmed
    retake               deletes the node if its version is the one seen, which is any node's
    try_again            begins again after a failure
    hear_of_deletion     begins again if its election is settled; otherwise ignores it, except for the cache of
                         leads=confirmed
    creation_unheard     a fault: creates the node as the connection breaks; the request will be sent again, unless
                         the broker looks before
    deletion_unheard     a fault: the same of the deletion of its former node
    fail                 a request fails for want of a session, or of a connection if the store carries it out alone
    fail_to_start        the first election of the process has failed, and so does its start. Only with the bug
                         failure_not_retried
    reestablish_unheard  opens a new session, and nobody is told. Only with the bug event_lost
    start_closing        a fault: begins to shut down
    delete_at_close      deletes the node if it believes to lead
    deletion_at_close_unheard
                         a fault: deletes the node as the connection breaks; the request will be sent again. Only
                         with the bug deletion_sent_again
    end                  the process ends and closes its session
    ask                  client: looks the bundle up at some broker
    redirect             sends the lookup on to the active leader that it knows
    choose               leads, or knows no active leader: chooses a broker
    take                 was chosen, and takes the bundle
    close_again          closes once more what was closed and has elected again. Only with the bugs
                         closed_elects_again and closed_goes_on
    withdraw             deletes the node that it has created, as it was closed meanwhile. Only with the bug
                         closed_goes_on
    give_up              client: the broker that was asked is dead
    forget_leader        the cached leader expires. Only with the bug leader_value_expires

The properties are in ``properties/election/suite.py``, with ``conduct.py`` beside it. ``BUGS`` has a line for each bug and
weakening, ``properties/election/bugs.toml`` the releases that have it.
"""

from fencepost.model.pulsar.election.protocol import BUGS, RELEASES, election

__all__ = ["BUGS", "RELEASES", "election"]
