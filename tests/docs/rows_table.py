"""The table of what a comparison of the models with the code found: what of each row is in a model, and where the rest is.

The rows are L1 to L15 of the ledger and C1 to C9 of the control plane. What is named is looked up in the protocols, so that a
name that is gone is an error; the releases are those of the bugs' histories.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.properties.bugs import Bug
from fencepost.properties.protocols import PROTOCOLS

HEAD = "| row | what the code does | in the model (releases) | and here |\n|---|---|---|---|\n"


@dataclass(frozen=True)
class Row:
    """What the code does; the names that a model has for it, each as ``protocol.name``; and the section of the deviations that
    has the rest, or the whole, with the words with which its paragraph begins."""

    what: str
    names: tuple[str, ...] = ()
    section: str = ""
    begins: str = ""


ROWS = {
    "L1": Row(
        "a checkpoint with nothing to write leaves the ledger index, and a fence, unsaved",
        ("ledger.idle_checkpoint_skips_index", "ledger.idle_flush_skips_headers", "bookie.idle_checkpoint_skips_index"),
    ),
    "L2": Row(
        "a denial is answered before the fence is journaled",
        ("ledger.denies_before_fence_is_journaled", "bookie.denies_before_fence_is_journaled"),
    ),
    "L3": Row(
        "an entry is confirmed while a bookie that left is taken out of the pending adds",
        ("ledger.confirms_while_unsetting",),
        "not-modelled-yet",
        "The loop over pending adds in recovery",
    ),
    "L4": Row("an add that is queued late keeps the ensemble before the change", ("ledger.captured_ensemble",)),
    "L5": Row("recovery counts denials by answer", (), "not-modelled-yet", "Denials are counted by answer"),
    "L6": Row(
        "the fence of a deleted ledger is kept in memory",
        ("ledger.deleted_fence_in_memory", "ledger.fence_forgotten_on_delete"),
    ),
    "L7": Row(
        "limbo is only where data integrity is checked",
        ("ledger.data_integrity", "ledger.cookie_deleted_after_wipe"),
        "bounds",
        "A lost disk",
    ),
    "L8": Row("a failed write of a confirmed entry changes the ensemble", (), "not-modelled-yet", "More than the code does"),
    "L9": Row(
        "a last add confirmed whose digest is wrong is not believed",
        ("ledger.read_lac",),
        "not-modelled-yet",
        "The last answer",
    ),
    "L10": Row(
        "a recovery closes whatever the version",
        ("ledger.close_recovered", "ledger.recovery_not_marked"),
        "code-against-documents",
        "Recovery keeps its changes of ensemble to itself",
    ),
    "L11": Row(
        "recovery reads on while it writes back",
        ("ledger.closes_before_recovery_add", "ledger.late_recovery_add"),
        "bounds",
        "One entry at a time in recovery",
    ),
    "L12": Row(
        "the fence of a ledger that a bookie never saw does not survive a kill",
        ("ledger.master_key_with_entries_only", "bookie.master_key_with_entries_only"),
    ),
    "L13": Row("the length decides a close, too", ("ledger.length_of_the_last_entry", "ledger.length_not_raised")),
    "L14": Row(
        "a bookie's last add confirmed is of a copy",
        ("ledger.storage", "ledger.last_entry_of_the_write_cache"),
        "bounds",
        "A bookie's last add confirmed",
    ),
    "L15": Row("an add is confirmed at the next answer", (), "not-modelled-yet", "Confirmed at the next answer"),
    "C1": Row(
        "a broker leads as its creation is answered",
        ("election.leads",),
        "election",
        "Looking and settling are one step",
    ),
    "C2": Row(
        "a request whose answer was lost is sent again",
        (
            "ownership.deletion_sent_again",
            "election.deletion_sent_again",
            "ownership.creation_unheard",
            "election.creation_unheard",
            "ownership.metadata_store",
        ),
        "the-metadata-store",
        "Requests that are sent again",
    ),
    "C3": Row("a broker acquires a bundle of its own again", ("ownership.reacquires",)),
    "C4": Row(
        "a revalidation under way creates a node behind a release; a late clean-up releases the next lock",
        ("ownership.recreated_behind_release", "ownership.stale_unload", "unload.stale_unload"),
    ),
    "C5": Row("the newest locks queue their operations", (), "ownership", "Locks of the newest source"),
    "C6": Row(
        "session events are lost, or false",
        ("ownership.event_lost", "election.event_lost"),
        "the-metadata-store",
        "Session events",
    ),
    "C7": Row(
        "only an election that a deletion began is tried again",
        ("election.failure_not_retried",),
        "election",
        "Every failure is followed by another try",
    ),
    "C8": Row(
        "what the store carries out alone is not sent again",
        ("ownership.lone_release_fails", "ownership.failed_creation_left"),
        "the-metadata-store",
        "Requests that the store carries out alone",
    ),
    "C9": Row(
        "the policies are written after the layout; a split is never completed",
        ("split.policies_unwritten", "split.policies_not_updated", "split.policies_overwritten", "split.load_fails_unanswered"),
        "split",
        "The policies",
    ),
}


def table() -> str:
    """The whole table; KeyError for a name that its protocol does not have."""
    return HEAD + "".join(_line(number, row) for number, row in ROWS.items())


def releases_of(bug: Bug) -> str:
    """The releases that have a bug, in a word if all that were read have it, and those that are unread."""
    everywhere = len(bug.present) + len(bug.unread) == len(bug.modelled)
    parts = ["all" if everywhere and bug.present else ", ".join(bug.present) or "none"]
    return "; ".join(parts + [f"unread: {', '.join(bug.unread)}"] * bool(bug.unread))


def _line(number: str, row: Row) -> str:
    here = f"[{row.begins}](#{row.section})" if row.section else ""
    return f"| {number} | {row.what} | {', '.join(map(_named, row.names))} | {here} |\n"


def _named(name: str) -> str:
    """The name, with the releases that have a bug of that name, or with the first that behaves as its parameter says."""
    protocol, _, own = name.partition(".")
    entry = PROTOCOLS[protocol]
    if own in entry.bugs:
        return f"`{name}` ({releases_of(entry.bugs[own])})"
    actions = entry.outline({}).protocol.mirrors
    if own not in actions and own not in {parameter.name for parameter in entry.parameters}:
        raise KeyError(name)
    values = {release: parameters[own] for release, parameters in entry.releases.items() if own in parameters}
    first = [release for release, before in zip(list(values)[1:], values, strict=False) if values[release] != values[before]]
    return f"`{name}` (since {first[0]})" if first else f"`{name}`"
