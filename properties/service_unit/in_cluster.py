"""What the service unit channel is to a cluster: it owns bundles where the extensible load manager is run."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.properties.bugs import Value
from fencepost.properties.configuration import Configuration, InCluster


def _parameters(cluster: Configuration, _: Mapping[str, Value]) -> dict[str, Value]:
    """The store of the records, and whether clients stay in a transfer."""
    return {"store": cluster.service_unit_store, "multi_phase": cluster.multi_phase}


IN_CLUSTER = InCluster(
    parts=("service_units", "control_plane"),
    is_run=lambda cluster: cluster.extensible,
    parameters=_parameters,
    harms={
        "service": ("looked_up_units_are_served", "what_is_owned_can_be_served", "moves_end"),
        "owners": ("topics_are_kept_once",),
    },
    events={
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
    owns_bundles=True,
)
