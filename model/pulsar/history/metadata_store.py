"""When the metadata store had each of its mistakes; read in the sources of the modelled releases of Pulsar."""

from __future__ import annotations

from fencepost.model.history import History
from fencepost.model.pulsar.history.shared import CACHE_KEPT_ON_DISCONNECT, CREATES_BLINDLY, EVENT_LOST, never

METADATA_STORE: dict[str, History] = {
    "creates_blindly": CREATES_BLINDLY,
    "deleted_without_version": never("a deletion names the version that is expected (ZKMetadataStore.convertOp: 4.2.4:380)"),
    "cache_kept_on_disconnect": CACHE_KEPT_ON_DISCONNECT,
    "event_lost": EVENT_LOST,
}
