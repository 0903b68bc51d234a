"""What the protocols of locks on bundles are to a cluster: only the modular load manager has such locks."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.properties.configuration import Configuration

EVENTS: Mapping[str, str] = {
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


def is_run(cluster: Configuration) -> bool:
    """Whether bundles are owned by locks."""
    return not cluster.extensible


def idle(cluster: Configuration) -> str:
    """Why the protocols of locks say nothing of the ownership of bundles; empty if they do."""
    reason = "the service unit channel owns bundles then, not locks, whose numbers these are"
    return f"{cluster.written['load_manager']}: {reason}" if cluster.extensible else ""
