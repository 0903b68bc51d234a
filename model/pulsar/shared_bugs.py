"""Known bugs that several protocols of Pulsar have, each in the same words."""

from __future__ import annotations

SHARED = {
    "creates_blindly": "a node is created whether or not it is there",
    "cache_kept_on_disconnect": "pulsar#23018: what a client has cached outlives a disconnection, and differs from the store "
    "for good",
    "deletion_sent_again": "a deletion whose answer is lost is sent again, and deletes the node that another broker has "
    "created since",
    "event_lost": "pulsar#25237: a new session begins, and no listener hears of it",
    "found_lock_unattended": "a lock acquired by finding its own node is never looked after: its state stays Init",
    "lone_release_fails": "a release that the store carries out alone, and not in a batch, fails with the connection for good",
    "recreated_behind_release": "a revalidation under way creates the node of a lock that is released meanwhile",
    "stale_unload": "pulsar#26197: the unload that follows the loss of a lock comes late, and releases a lock acquired since",
}
"""Each in one line, with its number upstream if it has one."""
