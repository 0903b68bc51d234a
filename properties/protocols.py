"""The protocols that Fencepost knows by name."""

from __future__ import annotations

from model import election as election_model
from model import ledger as ledger_model
from model import ownership as ownership_model
from model import split as split_model
from model import unload as unload_model
from properties import election as election_properties
from properties import ledger as ledger_properties
from properties import ownership as ownership_properties
from properties import split as split_properties
from properties import unload as unload_properties
from properties.instances import election, ledger, ownership, split, unload
from properties.registry import Entry

PROTOCOLS: dict[str, Entry] = {
    "ledger": Entry(
        "ledger",
        "the life of one BookKeeper ledger: written, handed from bookie to bookie, fenced, recovered, closed",
        ledger_model.ledger,
        ledger_properties.ledger,
        ledger.SIZES,
        ledger.SHOWN_BY,
        ledger.MUTATED,
    ),
    "election": Entry(
        "election",
        "which Pulsar broker leads: one ephemeral node, sessions that expire, and lookups that ask the leader",
        election_model.election,
        election_properties.election,
        election.SIZES,
        election.SHOWN_BY,
    ),
    "ownership": Entry(
        "ownership",
        "which broker owns a bundle: locks that are acquired, looked after and released",
        ownership_model.ownership,
        ownership_properties.ownership,
        ownership.SIZES,
        ownership.SHOWN_BY,
    ),
    "unload": Entry(
        "unload",
        "how a broker gives a bundle up: inactive, topics closed, lock released",
        unload_model.unload,
        unload_properties.unload,
        unload.SIZES,
        unload.SHOWN_BY,
    ),
    "split": Entry(
        "split",
        "how a bundle is split in two: the namespace's layout is changed by compare-and-set, and locks change hands",
        split_model.split,
        split_properties.split,
        split.SIZES,
        split.SHOWN_BY,
        split.MUTATED,
    ),
}
"""The protocols by name, in the order in which they are listed."""
