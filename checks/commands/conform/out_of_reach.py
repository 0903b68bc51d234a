"""Known bugs that the harness of a target cannot show, why, and where else they are shown on real code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class OutOfReach:
    """Why a bug would only seem to be there, or to be gone, in the harness of a target.

    ``place`` is the command, target or test that shows on the real code of the releases ``on`` that it is there, or, of a
    release that is not said to have it, gone.
    """

    why: str
    place: str = ""
    on: tuple[str, ...] = ()

    def outcome(self, release: str, *, present: bool) -> tuple[str, str]:
        """The verdict of a release, and its reason."""
        if release not in self.on:
            return "not tried", self.why
        return "seen elsewhere" if present else "gone elsewhere", f"{self.place}. Here {self.why}"


_BOOKKEEPER = ("4.18.0", "4.17.2", "4.17.3")
_PULSAR = ("4.0.8", "4.2.4", "5.0.0-M1")
_EVENT_LOST = OutOfReach(
    "the harness would lose the event itself",
    "by `tests/checks/conformance/pulsar/test_session_events.py`: a store's listener misses 7 and 12 of 25 new "
    "sessions on 4.0.8, and none of 25 on 4.2.4 and on 5.0.0-M1",
    _PULSAR,
)

OUT_OF_REACH: Mapping[tuple[str, str], OutOfReach] = {
    ("ledger", "denies_before_fence_is_journaled"): OutOfReach(
        "the harness answers in the place of ReadEntryProcessor, when the fence is journaled",
        "by the target `bookie`, which has that class",
        _BOOKKEEPER,
    ),
    ("ledger", "last_entry_of_the_write_cache"): OutOfReach(
        "its property speaks of adds that are not observed",
        "by `tests/checks/conformance/bookkeeper/test_ledger_mistakes.py`: a bookie that has entry 1 answers with -1, and "
        "with 0 after the next checkpoint",
        _BOOKKEEPER,
    ),
    ("ledger", "one_directory_marks_for_all"): OutOfReach(
        "bookies have one directory each", "by the target `bookie`, whose bookie has two", _BOOKKEEPER
    ),
    ("ledger", "explicit_lac_lost"): OutOfReach(
        "these releases lose it only by what loses a fence: `idle_checkpoint_skips_index`, `idle_flush_skips_headers` or "
        "`master_key_with_entries_only`"
    ),
    ("replication", "refill_by_boot_metadata"): OutOfReach(
        "the harness refills by EntryCopierImpl; the metadata of the boot are in DataIntegrityCheckImpl, which goes over all "
        "entries in one go"
    ),
    ("kafka-controller", "bounce_missed"): OutOfReach(
        "no brokers register in the harness, and none is sent requests; `fencepost reproduce missed-bounce` shows it on "
        "servers of 1.0.2, which is no release of this target"
    ),
    ("kafka-controller", "newer_refused"): OutOfReach("the harness has no brokers that register and are sent requests"),
    ("kafka-controller", "unconditional_writes"): OutOfReach("the controllers of the harness write nothing but the epoch"),
    ("kafka-controller", "own_node_ignored"): OutOfReach("the harness has no link that breaks"),
    ("kafka-controller", "resigns_inside_lock"): OutOfReach("the harness has no scheduler of rebalancing"),
    ("split", "splits_not_counted"): OutOfReach(
        "BundleSplitterTask counts them, before the NamespaceService of the harness is asked",
        "by `tests/checks/conformance/policy/test_policy.py` on that class: only that of 2.10.1 counts none",
        _PULSAR,
    ),
    ("split", "retries_on_stale_cache"): OutOfReach(
        "what fixes it is a pause of 100 ms before the next attempt (NamespaceService.splitAndOwnBundleOnceAndRetry), and the "
        "harness has no time: it ends a pause before the news has arrived, too"
    ),
    **{(target, "event_lost"): _EVENT_LOST for target in ("metadata-store", "election", "ownership", "service-unit")},
    ("service-unit", "session_event_unseen"): OutOfReach(
        "a thread that calls ServiceUnitStateChannelImpl.getMetadataState does not see the field lastMetadataSessionEvent that "
        "another one has written, as it is not volatile; Java allows that, and no step brings it about"
    ),
    ("topic", "removed_producer_publishes"): OutOfReach(
        "the connection, which forgets the producer later, is the harness's",
        "by `fencepost reproduce dedup-loses` on a whole broker, which loses nothing if `Producer.closeNow` sets "
        "`isClosed` (4.2.4), or if no message waits in the connection (5.0.0-M1)",
        ("4.2.4", "5.0.0-M1"),
    ),
}
"""By the target and the bug."""
