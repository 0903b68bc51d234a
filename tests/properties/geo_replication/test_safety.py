"""The replication to another cluster: pinned counts, and every bug caught."""

from __future__ import annotations

COUNTS = {"refused": (497, 1193, 20), "all faults": (1643, 5183, 18), "no deduplication": (4821, 14717, 24)}

CONTROLS: dict[str, dict[str, int]] = {"refused": {}, "all faults": {}, "no deduplication": {"stored_once": 7}}

CAUGHT = {
    "dedup_by_sequence_id": ({"replicated_is_stored"}, 9),
    "refusal_overtaken": ({"queue_was_read"}, 6),
    "refusal_unheard": ({"queue_was_read", "refused_was_next"}, 6),
    "read_behind_rewind": ({"arrives"}, 9),
    "watermark_not_replayed": ({"stored_once"}, 7),
    "replicated_when_sent": ({"confirmed_is_remembered", "replicated_is_stored", "replicated_was_in_the_queue"}, 2),
    "persisted_when_pushed": ({"replicated_is_stored"}, 7),
}
