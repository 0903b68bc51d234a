"""What an operator calls the steps that nothing brings about by itself, by the protocol and the name of the action."""

from __future__ import annotations

from collections.abc import Mapping

_LOCKS = {
    "start_release": "an unload of the bundle",
    "start_unload": "an unload of the bundle",
    "disable": "a bundle that is disabled",
    "crash": "a killed broker",
    "expire": "a lost session of a broker",
    "disconnect": "a lost connection to the metadata store",
    "creation_unheard": "a connection lost before a creation is answered",
    "deletion_unheard": "a connection lost before a deletion is answered",
    "release_unheard": "a connection lost before a release is answered",
    "lone_release_unheard": "a connection lost before a release is answered",
    "lone_creation_unheard": "a connection lost before a creation is answered",
    "fail_to_close": "a topic that does not close in time",
}

_TOPICS = {
    "lose_connection": "a lost connection of the producer",
    "roll_over": "a ledger closed for its age",
    "terminate": "a termination of the topic",
    "close": "a topic that is closed",
    "creation_fails": "a ledger that cannot be created",
    "list_fails": "a failed update of the list of ledgers",
    "recover_elsewhere": "a recovery of the ledger by another client",
    "crash": "a killed broker",
    "list_first_unreadable": "a cursor ledger that cannot be read",
    "list_first_stale": "a stale list of cursors",
    "trim_fails": "a failed trim",
    "drop_unseen": "a metadata server that lags behind",
    "fail_add": "a failed add",
    "time_out_add": "an add that times out",
    "create_another": "a second ledger created at once",
    "payload_fails": "an entry that cannot be processed",
}

WORDS: Mapping[str, Mapping[str, str]] = {
    "ledger": {
        "crash": "a killed bookie",
        "replace": "a bookie replaced in the ensemble",
        "replace_in_recovery": "a bookie replaced during a recovery",
        "lose_disk": "a bookie with an empty disk",
        "send_explicit_lac": "an explicit last add confirmed",
        "unclean_shutdown": "a killed bookie that writes no journal",
        "rot": "a copy that goes bad",
        "fail_to_save": "a checkpoint that cannot be written",
    },
    "bookie": {
        "kill": "a killed bookie",
        "lose_power": "a bookie that loses power",
        "stop": "a restarted bookie",
        "fail_to_save": "a checkpoint that cannot be written",
        "fill_cache": "a full write cache",
    },
    "topic": _TOPICS,
    "cluster": {
        **_TOPICS,
        "expire": "a lost session of a broker",
        "die": "a killed broker",
        "unload": "an unload of the bundle",
        "create_unheard": "a connection lost before a creation is answered",
        "lose_disk": "a lost disk with a copy",
        "drop_copy": "a bookie that is named without a copy, or twice",
        "meet_deletion": "a deletion that meets the next owner's node",
    },
    "election": {
        **_LOCKS,
        "start_closing": "a broker that shuts down",
        "deletion_at_close_unheard": "a connection lost before a deletion is answered",
    },
    "ownership": _LOCKS,
    "unload": _LOCKS,
    "split": {
        **_LOCKS,
        "start_split": "a split of the bundle",
        "write_unheard": "a connection lost before the layout's write is answered",
    },
    "service_unit": {
        "unload": "an unload of the bundle",
        "transfer": "a transfer of the bundle",
        "split": "a split of the bundle",
        "tombstone_old": "an old record that is deleted",
        "compact": "a compaction of the channel's topic",
        "crash": "a killed broker",
        "shut_down": "a broker that is shut down",
        "expire": "a lost session of a broker",
        "disconnect": "a lost connection to the metadata store",
        "meet_conflict": "a conflict as the layout is written",
    },
}


def in_words(protocol: str, action: str) -> str:
    """The event, in an operator's words; the action's own name where nobody has given it any."""
    return WORDS.get(protocol, {}).get(action, action.replace("_", " "))
