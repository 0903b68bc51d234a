"""The placement of ensembles on BookKeeper's own policies: no difference, and bugs of the model are noticed."""

from __future__ import annotations

import pytest

from fencepost.checks.conformance.bookkeeper.placement import DRAWS, compare, policies_of
from fencepost.checks.conformance.bookkeeper.target import bookkeeper
from fencepost.model.bookkeeper.placement import RELEASES
from tests.checks.conformance.real import tools
from tests.command import fencepost

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("real bookkeeper")]


@pytest.mark.parametrize("release", ["4.18.0", pytest.param("4.14.5", marks=pytest.mark.long)])
def test_the_model_places_as_the_policies_do(release: str) -> None:
    tools()
    with policies_of(bookkeeper(release)) as session:
        results = [compare(session.ask, count=60, seed=1, behaviour=RELEASES[release]) for _ in range(2)]
    result, again = results
    assert result.first == ""
    assert (result.cases, result.draws, result.differing) == (60, 60 * DRAWS, 0)
    assert result.of_policies.keys() == {"rackaware", "regionaware", "random"}
    assert result.refused > 0
    assert result.replaced > 0
    assert [result.refused, result.replaced, result.drawn] == [again.refused, again.replaced, again.drawn], (
        "draws follow the seed"
    )


@pytest.mark.long
@pytest.mark.parametrize(("release", "seed"), [("4.2.4", 3), ("5.0.1", 5)])
def test_the_model_places_in_isolation_groups_as_pulsar_does(release: str, seed: int) -> None:
    """In a case of seed 5 a bookie of a secondary group is down, for which a bookie of no group joins since 5.0.1."""
    tools()
    ran = fencepost("conform", "placement", "--quiet", "--pulsar", release, "--cases", "60", "--seed", str(seed))
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.startswith(
        f"placement policies of Pulsar {release}, seed {seed}: 60 cases (isolated 60)\n  720 draws agree: "
    )


@pytest.mark.long
@pytest.mark.parametrize("bug", ["racks_not_checked", "replaced_within_a_rack"])
def test_a_bug_is_noticed(bug: str) -> None:
    tools()
    ran = fencepost("conform", "placement", "--quiet", "--cases", "200", "--bug", bug)
    assert ran.returncode == 12
    assert " differ, first" in ran.stdout


def test_an_unknown_bug_is_a_line() -> None:
    ran = fencepost("conform", "placement", "--bug", "nearest")
    assert ran.returncode == 2
    assert "placement has no bug 'nearest'; it has racks_not_checked" in ran.stderr
