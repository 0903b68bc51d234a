"""When the metadata store had each of its mistakes; read in the sources of the modelled releases of Pulsar."""

from __future__ import annotations

from fencepost.model.pulsar.history.ownership import OWNERSHIP
from fencepost.model.pulsar.history.shared import EVENT_LOST, never
from fencepost.model.releases import History

METADATA_STORE: dict[str, History] = {
    "creates_blindly": never("a put that expects -1 is a create (ZKMetadataStore.convertOp: 4.2.4:370)"),
    "deleted_without_version": never("a deletion names the version that is expected (ZKMetadataStore.convertOp: 4.2.4:380)"),
    "cache_kept_on_disconnect": OWNERSHIP["cache_kept_on_disconnect"],
    "event_lost": EVENT_LOST,
}
