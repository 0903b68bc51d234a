"""The entry of ``bookie`` in the registry."""

from __future__ import annotations

from fencepost.model.bookkeeper.bookie import bookie
from fencepost.model.bookkeeper.history import BOOKIE
from fencepost.properties.bookie import instances, suite
from fencepost.properties.registry import Entry

ENTRY = Entry(
    "bookie",
    "one bookie and its disk: journal, log mark, checkpoint and replay, and what of its answers they keep",
    bookie,
    suite.bookie,
    instances.SIZES,
    instances.SHOWN_BY,
    history=BOOKIE,
)
