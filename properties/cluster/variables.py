"""The variables of ``cluster`` with their sorts, as its properties speak of them."""

from __future__ import annotations

from fencepost.model.language import Choice, Condition, Family, Number, Variables
from fencepost.model.nobody import Nobody
from fencepost.properties.topic.variables import TopicVariables


class BundleVariables(Variables):
    """The variables of its part ``bundle``."""

    owner: Choice[int | Nobody]
    believes: Family[Condition]
    expiries: Number
    apart: Family[Condition]


class CopiesVariables(Variables):
    """The variables of its part ``first``."""

    copies: Number
    losses: Number


class ClusterVariables(TopicVariables):
    """The variables of an instance of ``cluster``; each has those that its parameters and bugs need."""

    bundle: BundleVariables
    first: CopiesVariables
    given_up: Family[Condition]
    unloads: Number
    disconnects: Number
    migrations: Number
