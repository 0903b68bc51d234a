"""What odds count as lost is lost: a message that is left behind is never there again, and gone with the next load."""

from __future__ import annotations

import numpy as np
import pytest

from fencepost.model.kernel import Kernel
from fencepost.model.kernel.search.graph import graph_of
from fencepost.model.kernel.search.results import Limits
from fencepost.model.kernel.search.search import search
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.topic.losses import message_is_left_behind, message_is_lost

LOADED_AGAIN = {"brokers": 1, "openings": 2, "connections": 2, "rolls": 1, "ledgers": 4, "closings": 1, "slow_updates": 1}
SMALL = {"messages": 2, "capacity": 3, "dedup": False, "timeouts": False}


@pytest.mark.long
def test_what_is_left_behind_is_lost_at_the_next_load() -> None:
    p = PROTOCOLS["topic"].build({**LOADED_AGAIN, **SMALL}, ("listed_after_time_out",))
    formulas = [formula(p, m) for m in range(SMALL["messages"]) for formula in (message_is_left_behind, message_is_lost)]
    kernel = Kernel(p, formulas)
    result = search(kernel, limits=Limits())
    assert result.outcome == "exhausted"
    graph = graph_of(result)
    assert graph is not None
    sources = np.repeat(np.arange(len(graph.rows) - 1), np.diff(graph.rows))
    loads = np.array([action.name == "list_first" for action in p.actions])[graph.actions]
    for m in range(SMALL["messages"]):
        left, lost = graph.holds(2 * m), graph.holds(2 * m + 1)
        assert not np.any(lost & ~left)
        assert not np.any(left[sources] & ~left[graph.targets])
        assert not np.any(left[sources][loads] & ~lost[graph.targets][loads])
        assert np.any(left & ~lost)
