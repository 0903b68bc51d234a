"""The variables that protocols with sessions, and with locks, have in common, with their sorts."""

from __future__ import annotations

from fencepost.model.language import Choice, Condition, Family, Number, Variables
from fencepost.model.nobody import Nobody
from fencepost.model.pulsar.resource_lock import BundleState, Stage
from fencepost.model.zookeeper.sessions_and_nodes import Link


class SessionVariables(Variables):
    """The variables of clients of a metadata store: their sessions, and how many faults befell them."""

    lives: Family[Condition]
    link: Family[Choice[Link]]
    session: Family[Condition]
    former_session: Family[Condition]
    disconnects: Number
    expiries: Number
    crashes: Number


class LockVariables(SessionVariables):
    """The variables of brokers that lock bundles."""

    owner_holder: Family[Choice[int | Nobody]]
    owner_former: Family[Condition]
    owner_version: Family[Number]
    owner_deletion: Family[Condition]
    lock: Family[Choice[Stage]]
    bundle_state: Family[Choice[BundleState]]
    revalidate_when_back: Family[Condition]
    lock_version: Family[Number]
    orphan: Family[Condition]
    unattended: Family[Condition]
