"""What is made of parts in traces, drawings, symmetry and TLA+: one flat protocol, whose names have dots."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fencepost.checks.export.tla.module import Module
from fencepost.checks.public_calls import explore
from fencepost.model.analysis.symmetry import symmetry_of
from fencepost.model.language import And, Not, Or, Protocol
from fencepost.properties.registry import Entry, Instance
from fencepost.properties.vocabulary import Suite
from fencepost.traces.drawings.lanes import messages, stored
from fencepost.traces.files.itf import read, write
from fencepost.traces.replay import replay
from fencepost.traces.wording.text import show


class Cell:
    """A cell that is filled, and that may rot once."""

    def __init__(self, p: Protocol) -> None:
        self.full, self.rotten = full, rotten = p.flag("full"), p.flag("rotten")
        p.budget("rots", 1)

        @p.move(by="filler")
        def fill() -> Any:
            """It is filled."""
            return Not(full), {full: True}

        @p.fault(by="disk", spends="rots")
        def rot() -> Any:
            """It rots."""
            return full, {rotten: True}

        self.fill = fill


def shelf(cells: int = 2, *, bugs: Iterable[str] = ()) -> Protocol:
    """Cells that two users fill."""
    p = Protocol("shelf", parameters={"cells": cells}, active=bugs)
    cell, user = p.universe("cell", cells), p.universe("user", 2)
    held = p.include("cell", Cell, per=cell)

    @p.step(by="u", u=user, c=cell)
    def use(u: int, c: int) -> Any:
        """A user fills a cell."""
        return True, held[c].fill()

    return p


def properties(p: Protocol) -> Suite:
    suite, cells = Suite(p), p.state.cell

    @suite.always
    def not_all_rotten() -> Any:
        """Some cell is not rotten."""
        return Or(*(Not(one) for one in cells.rotten))

    @suite.sometimes
    def all_full() -> Any:
        """All cells are full."""
        return And(*cells.full)

    return suite


ENTRY = Entry(name="shelf", summary="cells on a shelf", function=shelf, suite=properties, sizes={"ci": (Instance("two", {}),)})


def test_a_run_is_written_read_replayed_shown_and_drawn(tmp_path: Path) -> None:
    suite = properties(shelf())
    trace = explore(suite).verdicts[0].trace
    write(trace, suite.protocol, tmp_path / "run.itf.json")
    again, protocol = read(tmp_path / "run.itf.json", {"shelf": ENTRY})
    assert again == trace
    assert replay(again, {"shelf": ENTRY}).replays
    text = show(again, protocol, violated=suite.named("not_all_rotten"))
    assert "cell.rot(c0)" in text
    assert "cell.full[c0] no -> yes" in text
    assert stored(protocol) == {"cell.full"}
    assert [message.action.label for message in messages(again, protocol)] == [step.action for step in again.steps]


def test_copies_of_a_part_are_interchangeable() -> None:
    suite = properties(shelf())
    assert [str(c) for c in symmetry_of(suite.protocol, {}).classes] == ["cell c0, c1", "user u0, u1"]


def test_in_tla_names_have_no_dots() -> None:
    text = Module(properties(shelf())).text
    assert "cell_full" in text
    assert "CellRot(" in text
    assert "cell.full" not in text
