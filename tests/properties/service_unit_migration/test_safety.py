"""The migration between the stores of service units: pinned counts, every bug caught, and what all of them together do."""

from __future__ import annotations

import pytest

from fencepost.model.language import ModelError
from fencepost.properties.protocols import PROTOCOLS
from tests.properties.searching import searched, unexpected

MIGRATION = PROTOCOLS["service_unit_migration"]

COUNTS = {
    "to nodes": (1299587, 5739856, 51),
    "to the topic": (2015673, 9537536, 49),
    "to nodes, copied": (624307, 2675644, 34),
}

CONTROLS: dict[str, dict[str, int]] = {name: {} for name in COUNTS}

CAUGHT = {
    "stores_decide_alone": ({"one_takes_itself_for_the_owner", "copied_stores_agree"}, 15),
    "cleaned_in_use": ({"owners_are_not_deleted"}, 14),
    "compared_by_number": ({"copied_stores_agree"}, 7),
    "copies_overlap": ({"copied_stores_agree"}, 11),
    "deletions_echo": ({"owners_are_not_deleted"}, 20),
    "deletions_not_copied": ({"copied_stores_agree"}, 16),
}

DEEP = ("to nodes", "to nodes, copied")
DEEP_BUGS = ("stores_decide_alone", "deletions_echo", "deletions_not_copied")
"""Instances and bugs of the deep run only."""


@pytest.mark.deep
@pytest.mark.parametrize(("to", "steps"), [("metadata", 18), ("topic", 17)])
def test_two_brokers_own_the_unit_while_one_of_them_is_restarted(to: str, steps: int) -> None:
    """Each store has an owner of its own, in the shortest run with topics open at both."""
    findings = searched(MIGRATION, {"to": to}, ["stores_decide_alone"], ["topics_are_open_once"])
    assert unexpected(findings) == {"topics_are_open_once": steps}


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ModelError, match="to is one of metadata, topic, not 'etcd'"):
        MIGRATION.build({"to": "etcd"})
    with pytest.raises(ModelError, match="restarts are not more than brokers"):
        MIGRATION.build({"restarts": 3})
