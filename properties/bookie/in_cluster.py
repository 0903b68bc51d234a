"""What a bookie is to a cluster: how its files are configured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fencepost.model.language import ModelError
from fencepost.model.language.circumstances import in_outline
from fencepost.properties.bugs import Value
from fencepost.properties.configuration import Bookies, Configuration, InCluster, Instance, fitting


def parameters_of(bookies: Bookies) -> dict[str, Value]:
    """The settings as parameters of an instance of their own. Two journals stand for several, and so do two directories."""
    several: dict[str, Value] = {"ledgers": 2, "directories": 2} if bookies.several_directories else {}
    return {**_whatever_the_sizes(bookies), **several}


def _whatever_the_sizes(bookies: Bookies) -> dict[str, Value]:
    several: dict[str, Value] = {"ledgers": 2, "journals": 2} if bookies.several_journals else {}
    return {
        "storage": bookies.storage,
        "journal_sync_data": bookies.sync_journal,
        "journal_write_data": bookies.write_journal,
        **several,
    }


def _parameters(cluster: Configuration, _: Mapping[str, Value]) -> dict[str, Value]:
    return {} if cluster.bookies is None or cluster.bookies.unmodelled else _whatever_the_sizes(cluster.bookies)


def _instances(
    cluster: Configuration, taken: Mapping[str, Value], instances: Sequence[Instance], size: str
) -> tuple[Instance, ...]:
    """The instances of so many directories with what is taken; those that there are not with these are left out."""
    several = cluster.bookies is not None and cluster.bookies.several_directories
    known = [i for i in fitting(instances, taken) if several or int(i.parameters.get("directories", 1)) == 1]
    return tuple(instance for instance in known if _can_be(instance))


def _can_be(instance: Instance) -> bool:
    from fencepost.model.bookkeeper.bookie import bookie  # which a question about what is run does not load

    try:
        with in_outline():
            bookie(**instance.parameters)  # type: ignore[arg-type]
    except ModelError:
        return False
    return True


IN_CLUSTER = InCluster(
    parts=("bookies",),
    is_run=lambda cluster: True,
    is_checked=False,
    parameters=_parameters,
    instances=_instances,
    refusal=lambda cluster: cluster.bookies.unmodelled if cluster.bookies else "",
    is_to_blame=True,
    harms={"lost": ("acknowledged_adds_survive", "answered_fences_survive", "what_is_there_is_not_denied")},
    events={
        "kill": "a killed bookie",
        "lose_power": "a bookie that loses power",
        "stop": "a restarted bookie",
        "fail_to_save": "a checkpoint that cannot be written",
        "fail_to_save_index": "an update of the index of ledgers that cannot be written",
        "fill_cache": "a full write cache",
        # Neither of these counts as a fault. The collector looks every 15 minutes (gcWaitTime), so nobody can say of that event
        # that it never happens. A copy mostly comes back because another member was lost, but recover and a decommission bring
        # one back too, where nothing has failed, and the fewest faults of a way must not be one too many.
        "collect_log": "a look of a bookie's garbage collector at an entry log",
        "collect": "a copy that auto-recovery brings back to a bookie that has deleted it",
    },
)
"""A bookie that costs a message has lost an entry or a fence, or denies what it has."""
