"""What the real BookieImpl did, and what the model does with the bugs of that release: the same.

Each run was carried out on BookieImpl of the released jars, one JVM for each life of the process, which was halted (``kill``)
or shut down (``stop``). At the end of each a writer's add to the ledger that was fenced is accepted or refused.
"""

from __future__ import annotations

from functools import cache

import pytest

from fencepost.model.bookkeeper.bookie import bookie
from fencepost.model.kernel import Kernel
from fencepost.properties.protocols import PROTOCOLS

BUNDLE_STATES = ("replay", "save(sync)", "serve")
JOURNALS = ("write_journal", "sync_journal")
STEPS = {
    "checkpoint": ("take_checkpoint", "save(sync)", "save_mark(sync)"),
    "kill": ("kill", *BUNDLE_STATES),
    "stop": ("stop", "save(sync)", "end", *BUNDLE_STATES),
    "fence": ("fence(l0)", *JOURNALS),
    "add": ("add(l0, e0)", *JOURNALS, "acknowledge(l0, e0)"),
    "recovery add": ("recovery_add(l0, e0)", *JOURNALS, "acknowledge_recovery(l0, e0)"),
    "other add": ("add(l1, e0)", *JOURNALS, "acknowledge(l1, e0)"),
}

CHECKPOINTED_AGAIN = "add, checkpoint, fence, checkpoint, kill"
STOPPED = "add, checkpoint, fence, stop"
TWO_BOOTS = "add, stop, fence, stop"
KILLED_TWICE = "add, checkpoint, fence, kill, kill"
KILLED_ONCE = "add, checkpoint, fence, kill"
NOT_CHECKPOINTED = "add, fence, kill"
UNKNOWN = "fence, kill"
UNKNOWN_RECOVERED = "fence, recovery add, kill"
UNKNOWN_STOPPED = "fence, stop"
UNKNOWN_BESIDE_ANOTHER = "fence, other add, checkpoint, kill"

ALL = {
    CHECKPOINTED_AGAIN, STOPPED, TWO_BOOTS, KILLED_TWICE, KILLED_ONCE, NOT_CHECKPOINTED, UNKNOWN, UNKNOWN_RECOVERED,
    UNKNOWN_STOPPED, UNKNOWN_BESIDE_ANOTHER,
}  # fmt: skip
OF_4_14_5 = {STOPPED, TWO_BOOTS, KILLED_TWICE, UNKNOWN, UNKNOWN_RECOVERED, UNKNOWN_STOPPED}

KEPT = {KILLED_ONCE, NOT_CHECKPOINTED}
OTHERS_KEPT = KEPT | {CHECKPOINTED_AGAIN, STOPPED}
REFUSED = {
    ("4.18.0", "db"): (ALL, KEPT | {UNKNOWN_BESIDE_ANOTHER}),
    ("4.17.3", "db"): (ALL, KEPT | {UNKNOWN_BESIDE_ANOTHER}),
    ("4.14.5", "db"): (OF_4_14_5, {STOPPED, TWO_BOOTS, KILLED_TWICE, UNKNOWN_STOPPED}),
    ("4.18.0", "sorted"): (ALL, OTHERS_KEPT),
    ("4.17.3", "sorted"): (ALL, OTHERS_KEPT),
    ("4.14.5", "sorted"): (OF_4_14_5, {STOPPED}),
    ("4.18.0", "interleaved"): (ALL, OTHERS_KEPT),
    ("4.17.3", "interleaved"): (ALL, OTHERS_KEPT),
}
"""For each release and storage the runs that were made, and those of them in which the real bookie refused the add."""

RACES = ("fence_checked_apart", "key_record_after_entry", "mark_goes_back")
"""Bugs that need two threads at the same moment. A switch has them always, and these runs had one thread."""

MADE = [
    pytest.param(release, storage, run, marks=[] if release == "4.18.0" else pytest.mark.long)
    for (release, storage), (runs, _) in REFUSED.items()
    for run in sorted(runs)
]


@cache
def _kernel(release: str, storage: str) -> Kernel:
    """A bookie of the release with its bugs, that may end as often as any run has it."""
    bugs = [name for name, of in PROTOCOLS["bookie"].bugs.items() if release in of.present and name not in RACES]
    return Kernel(bookie(storage=storage, ledgers=2, records=7, kills=2, stops=2, bugs=bugs))


def _enabled_after(kernel: Kernel, run: str) -> dict[str, bool]:
    """Whether a bookie can take, or refuse, the writer's add after a run."""
    index = {action.label: i for i, action in enumerate(kernel.actions)}
    (state,) = kernel.initial()
    for step in (step for word in run.split(", ") for step in STEPS[word]):
        assert index[step] in kernel.enabled(state), f"{step} of {run}"
        state = kernel.apply(state, index[step])
    return {label: index[label] in kernel.enabled(state) for label in ("add(l0, e1)", "refuse(l0, e1)")}


@pytest.mark.parametrize(("release", "storage", "run"), MADE)
def test_the_model_does_what_the_real_bookie_did(release: str, storage: str, run: str) -> None:
    refuses = run in REFUSED[release, storage][1]
    assert _enabled_after(_kernel(release, storage), run) == {"add(l0, e1)": not refuses, "refuse(l0, e1)": refuses}
