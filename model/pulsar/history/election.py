"""When the election of a leader had each of its mistakes; read in the sources of the modelled releases of Pulsar.

``LE`` is LeaderElectionImpl of pulsar-metadata; numbers of lines are those of the release that is named before them.
"""

from __future__ import annotations

from fencepost.model.history import History
from fencepost.model.pulsar.history.shared import CREATES_BLINDLY, DELETION_SENT_AGAIN, EVENT_LOST, of_2_10_1, past

ELECTION: dict[str, History] = {
    "same_value": History(
        "pulsar",
        upstream=("#10522",),
        since="2.8.0",
        releases="2.10.1 to 5.0.0-M1",
        costs="no leader stays: load is not balanced, bundles are not split, and lookups that ask the leader are slow or fail",
        avoided_by="advertisedAddress, brokerServicePort, webServicePort: no two brokers with the same",
        evidence="LE.handleExistingLeaderValue deletes an equal value of another session (2.10.1:128, 4.2.4:160-177)",
    ),
    "elected_follows": of_2_10_1(
        ("#23125", "#23138"),
        since="2.8.0",
        fixed="2.11.5, 3.0.7, 3.1.4, 3.2.5, 4.0.0",
        costs="the elected broker does not lead: load is not balanced and bundles are not split until the next election",
        evidence="LE 2.10.1:119-142 goes on from Leading to Following; 3.0.7 returns between them",
    ),
    "reconnection_ignored": of_2_10_1(
        ("#23138",),
        since="2.8.0",
        fixed="2.11.5, 3.0.7, 3.1.4, 3.2.5, 4.0.0",
        costs="a broker that was cut off follows a leader that is gone; where it led itself, two brokers lead",
        evidence="LE 2.10.1:274 knows SessionReestablished only; 4.0.8:304 and 4.2.4:373 both events",
    ),
    "reestablishment_ignored": past(("#10457",), since="before 2.8.0", fixed="2.8.0", evidence="LE 2.10.1:274"),
    "redirects_without_authority": past(
        ("#7200",), fixed="2020-06 (#7200)", evidence="NamespaceService 4.0.8:631, 4.2.4:672 redirect with authority"
    ),
    "followers_do_not_cache": past(
        ("#13066",), since="2.8.0", fixed="2.8.3, 2.9.1, 2.10.0", evidence="LE 2.10.1:108 reads the cache after each election"
    ),
    "leader_value_expires": of_2_10_1(
        ("#17401",),
        since="2.10.0",
        fixed="2.8.5, 2.10.3, 2.11.1, 3.0.0",
        costs="after ten minutes each broker chooses owners by itself, as if there were no leader",
        evidence="MetadataCacheImpl 2.10.1:75-76 expires, and LE does not read again; 4.0.8:80-93 does; from 4.2.4 on no cache",
    ),
    "asks_during_election": History(
        "pulsar",
        upstream=("#25999", "#26000"),
        since="2.8.0",
        fixed="4.2.4, 5.0.0-M1",
        releases="2.10.1 to 4.0.8, not 4.2.4, 5.0.0-M1",
        costs="while an election is under way brokers choose owners themselves, from load data that only the leader keeps",
        evidence="NamespaceService 4.0.8:592 asks a snapshot (getCurrentLeader); 4.2.4:631 waits (readCurrentLeader)",
    ),
    "creates_blindly": CREATES_BLINDLY,
    "closed_elects_again": History(
        "pulsar",
        since="3.0.7",
        releases="3.0.7 to 5.0.0-M1, not 2.10.1",
        costs="a broker that shuts down may become the leader again, until all that coordinates it is closed",
        evidence="LE.handleSessionNotification has no test of Closed (3.0.7:287, 4.0.8:301-311, 4.2.4:370-384, 5.0.0-M1:374);"
        " 2.10.1:247 shuts its executor down",
    ),
    "closed_goes_on": History(
        "pulsar",
        since="2.8.0",
        releases="2.10.1 to 5.0.0-M1",
        harm="who_closes_does_not_come_to_lead",
        costs="a broker that shuts down may come to lead, and sheds and splits beside the next leader until it is gone",
        evidence="LE.elect, handleExistingLeaderValue and changeState do not test for Closed, nor does what follows BadVersion"
        " (2.10.1:93-156, 4.2.4:141-261); only a creation that succeeds does (4.2.4:214-238). In 2.10.1 close shuts down the"
        " executor, so that what waits for its next try is over",
    ),
    "failure_not_retried": History(
        "pulsar",
        since="2.8.0",
        releases="2.10.1 to 5.0.0-M1",
        costs="a broker that is started again before its old session has expired may fail to start",
        evidence="LeaderElectionService.start waits for the first election (2.10.1:45, 4.2.4:52), which fails if the former"
        " session's node goes before it is deleted (LE 4.2.4:177-178); only one that a deletion began is tried again (411-427)",
    ),
    "deletion_sent_again": DELETION_SENT_AGAIN,
    "event_lost": EVENT_LOST,
}
