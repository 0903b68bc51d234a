"""Runs that never end, as text, as files and replayed: a loop that does not close, is unfair or breaks no promise is found."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fencepost.properties.registry import Entry, Instance
from fencepost.traces.files.itf import TraceFileError, read, write
from fencepost.traces.replay import replay
from fencepost.traces.trace import Loop, Step, Trace
from fencepost.traces.wording.text import show
from tests.traces.doors import door, suite

PROTOCOLS = {
    "door": Entry(
        name="door",
        summary="a door in the wind",
        function=door,
        suite=suite,
        sizes={"ci": (Instance("door", {}),)},
    )
}
STANDING, RUNG, OPEN, INSIDE = (0, 1, 0), (1, 1, 0), (1, 0, 0), (1, 1, 1)
LASSO = Trace(
    "door",
    STANDING,
    (Step("ring", RUNG), Step("swing", OPEN), Step("swing", RUNG)),
    violated="guests_get_in",
    found_by="liveness",
    loop=Loop(1, starved=("let_in",)),
)


def test_a_lasso_replays() -> None:
    assert str(replay(LASSO, PROTOCOLS)) == "replays: 3 steps, guests_get_in is never fulfilled"


@pytest.mark.parametrize(
    ("spoiled", "why"),
    [
        (replace(LASSO, loop=Loop(2, ("let_in",))), "the loop does not close: the last state is not state 2"),
        (
            replace(LASSO, steps=LASSO.steps[:1], loop=Loop(1, ("let_in",))),
            "the loop is not fair: swing is enabled all the time and never taken",
        ),
        (replace(LASSO, loop=Loop(1)), "the loop leaves out other actions than it says: let_in"),
        (
            replace(LASSO, steps=(*LASSO.steps, Step("let_in", INSIDE)), loop=Loop(4)),
            "guests_get_in is not violated: whenever a premise holds, its conclusion holds then or later",
        ),
        (replace(LASSO, loop=None), "guests_get_in speaks of runs that never end, and this one ends"),
        (replace(LASSO, violated="rings_first"), "rings_first speaks of runs that end, and this one does not"),
    ],
)
def test_what_is_no_violation_does_not_replay(spoiled: Trace, why: str) -> None:
    replayed = replay(spoiled, PROTOCOLS)
    assert not replayed.replays
    assert replayed.why == why


def test_a_run_that_owes_nothing_is_no_violation() -> None:
    swinging = replace(LASSO, steps=(Step("swing", (0, 0, 0)), Step("swing", STANDING)), loop=Loop(0, unobliged=("ring",)))
    assert "is not violated" in replay(swinging, PROTOCOLS).why


def test_a_lasso_as_text() -> None:
    lines = show(LASSO, door()).splitlines()
    tail = "  starved, enabled again and again but never for good: let_in"
    assert lines[-3:] == ["", "  the loop: steps 2 to 3 repeat forever", tail]
    still = replace(LASSO, steps=LASSO.steps[:1], loop=Loop(1, unobliged=("let_in", "swing")))
    assert show(still, door()).splitlines()[-3:] == [
        "",
        "  the run stops after step 1: nothing more is obliged to happen",
        "  enabled there, but nothing obliges it: let_in; swing",
    ]


def test_a_lasso_comes_back_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "lasso.itf.json"
    write(LASSO, door(), path)
    assert json.loads(path.read_text())["loop"] == 1
    assert read(path, PROTOCOLS)[0] == LASSO


@pytest.mark.parametrize(
    ("loop", "what"), [("1", "loop is not a whole number"), (-1, "no such state"), (4, "loop is 4, and there is no such state")]
)
def test_a_loop_that_is_none_is_refused(tmp_path: Path, loop: Any, what: str) -> None:
    path = tmp_path / "lasso.itf.json"
    write(LASSO, door(), path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"loop": loop}))
    with pytest.raises(TraceFileError, match=what):
        read(path, PROTOCOLS)
