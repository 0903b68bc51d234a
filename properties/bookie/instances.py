"""The instances of a bookie."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost.properties.registry import Instance, Value

_ONE: Mapping[str, Value] = {"entries": 1, "records": 5}

SIZES = {
    "ci": (
        Instance("kills", {"entries": 1, "records": 5, "kills": 2}),
        Instance("kill and stop", {"entries": 1, "records": 5, "kills": 1, "stops": 1}),
    ),
    "standard": (),
    "deep": (),
}

_FENCE: Mapping[str, Value] = {"entries": 1, "records": 4, "recovery": False}

SHOWN_BY: dict[str, Mapping[str, Value]] = {
    "idle_checkpoint_skips_index": {**_FENCE, "kills": 1},
    "idle_flush_skips_headers": {**_FENCE, "storage": "sorted", "stops": 2},
    "headers_without_pages_not_saved": {**_FENCE, "storage": "sorted", "stops": 2},
    "denies_before_fence_is_journaled": {**_FENCE, "kills": 1},
    "master_key_with_entries_only": {**_FENCE, "kills": 1},
    "second_fence_not_awaited": {**_FENCE, "kills": 1},
    "fence_not_journaled": {**_FENCE, "kills": 1},
    "fence_checked_apart": _FENCE,
    "key_record_after_entry": {**_FENCE, "kills": 1},
    "denies_what_it_has": _FENCE,
    "explicit_lac_in_memory": {**_FENCE, "explicit_lacs": 1, "kills": 1},
    "explicit_lac_not_indexed": {**_FENCE, "explicit_lacs": 1, "kills": 1},
    "mark_goes_back": {**_FENCE, "full_caches": 1},
    "one_directory_marks_for_all": {**_FENCE, "ledgers": 2, "directories": 2, "full_caches": 1, "kills": 1},
}
