"""The loading of topics: pinned counts, and every bug caught."""

from __future__ import annotations

COUNTS = {"all faults": (77, 81, 15), "policies without a time-out": (39, 40, 12)}

CONTROLS: dict[str, dict[str, int]] = {
    "all faults": {},
    "policies without a time-out": {"lookup_is_answered": 2, "served_in_the_end": 2},
}

CAUGHT = {
    "timed_out_kept": ({"served_in_the_end"}, 5),
    "reader_skips": ({"reader_skips_nothing"}, 2),
    "failed_kept": ({"failed_is_opened"}, 4),
    "policies_not_awaited": ({"opened_with_policies"}, 2),
}
