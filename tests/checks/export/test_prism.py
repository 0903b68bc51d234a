"""Chains in PRISM's language: read by a parser of its grammar, solved by another solver, and by Storm where it is installed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import diags, identity, lil_matrix
from scipy.sparse.linalg import spsolve

from fencepost.checks.engines.odds.transitions import transitions
from fencepost.checks.export.prism import PROPERTY, Ctmc, ctmc, model
from fencepost.checks.odds.solving import instance, repair_of
from fencepost.checks.odds.ways import WAYS
from fencepost.model.odds.numbers import MS_PER_YEAR, published

pytestmark = pytest.mark.xdist_group("odds")
NUMBERS = published().given("rival_recoveries", 1.57)

NUMBER = r"(?:\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
COMMAND = re.compile(rf"  \[\] s=(\d+) -> ({NUMBER}):\(s'=(\d+)\);")
HEADER = re.compile(r"(?:// [^\n]*\n)*ctmc\n\nmodule instance\n  s : \[0\.\.(\d+)\] init 0;\n")
FOOTER = re.compile(r"endmodule\n\nlabel \"lost\" = s>=(\d+);\n")
"""The rules of PRISM's manual that such a model takes: a type, a module with a variable and commands, a label."""


def chain(name: str) -> Ctmc:
    way = WAYS[name]
    whole = transitions(instance(way), NUMBERS, way.lost, way.opens)
    return ctmc(whole, NUMBERS, outages=way.outages, repair=repair_of(way, NUMBERS))


def solved(text: str) -> float:
    """The probability of the label, by SciPy's solution of the embedded chain. AssertionError for what is not in the rules."""
    begin = HEADER.match(text)
    assert begin is not None
    states, place = int(begin[1]) + 1, begin.end()
    rates = lil_matrix((states, states))
    while command := COMMAND.match(text, place):
        source, target = int(command[1]), int(command[3])
        assert source != target
        rates[source, target] += float(command[2])
        place = command.end() + 1
    end = FOOTER.fullmatch(text, place)
    assert end is not None
    lost = int(end[1])
    rates = rates.tocsr()
    leaves = np.asarray(rates.sum(axis=1)).ravel()
    going = np.flatnonzero(leaves[:lost] > 0)
    steps = (diags(1.0 / leaves[going]) @ rates[going]).tocsc()
    value = spsolve(identity(len(going), format="csc") - steps[:, going], np.asarray(steps[:, lost:].sum(axis=1)).ravel())
    assert going[0] == 0
    return float(value[0])


def test_disks_are_lost_in_turn_before_a_repair() -> None:
    found = chain("disks")
    nu_t = NUMBERS["disk_losses"] * NUMBERS["repair"] / MS_PER_YEAR
    assert found.losing() == pytest.approx(nu_t / (1 + nu_t), rel=1e-3)


@pytest.mark.long
@pytest.mark.parametrize("name", ["disks", "key_record_after_entry"])
def test_a_model_is_in_the_grammar_and_another_solver_has_the_same_answer(name: str) -> None:
    found = chain(name)
    text = model(found, name)
    assert text == model(chain(name), name)
    assert solved(text) == pytest.approx(found.losing(), rel=1e-6)


@pytest.mark.long
def test_storm_has_the_same_answer(tmp_path: Path) -> None:
    stormpy = pytest.importorskip("stormpy")
    found, path = chain("disks"), tmp_path / "disks.prism"
    path.write_text(model(found, "disks"))
    program = stormpy.parse_prism_program(str(path), prism_compatibility=True)
    (asked,) = stormpy.parse_properties(PROPERTY, program)
    built = stormpy.build_model(program, [asked])
    assert built.nr_states == found.states
    result = stormpy.model_checking(built, asked)
    assert result.get_value(built.initial_states[0]) == pytest.approx(found.losing(), rel=1e-6)
