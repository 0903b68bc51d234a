"""What the racks of a cluster's bookies guarantee, with the placement that the brokers' client is set to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.checks.cluster.saved import CLUSTER, Files
from fencepost.checks.commands.check.profile import with_profile
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.engines.plan import Approach
from fencepost.checks.questions.guarantees.establishing import Established, Means, establish
from fencepost.checks.questions.guarantees.ledgers import rack_guarantees
from fencepost.checks.settings.broker_conf import ConfigurationError
from fencepost.checks.settings.cluster_settings import Racks, read_settings
from fencepost.model.releases import Releases
from tests.checks.questions.guarantees.sized import sized

MEANS = Means(Approach(by="exhaustive", workers=1, memory=1 << 28))
ENFORCED = "bookkeeperClientEnforceMinNumRacksPerWriteQuorum=true"


def rows(
    folder: Path, bookies: tuple[int, ...], quorums: tuple[int, int, int], text: str = "", client: str | None = None
) -> dict[str, Established]:
    file = folder / "broker.conf"
    file.write_text(f"managedLedgerDefaultEnsembleSize=2\n{text}\n")
    racks: Racks = {f"/{number}": [f"b{number}{b}" for b in range(count)] for number, count in enumerate(bookies)}
    of = sized(sum(bookies), *quorums, Releases.of(client=client), settings=read_settings(file), racks=racks)
    asked = rack_guarantees(of)
    return {guarantee.name: establish(guarantee, MEANS) for guarantee in asked}


@pytest.mark.parametrize(
    ("bookies", "quorums", "text", "figures"),
    [
        ((2, 2), (2, 2, 2), "", (1, 1, 0, 1)),
        ((2, 2), (2, 2, 2), ENFORCED, (1, 1, 1, 0)),
        ((2, 2), (3, 3, 2), "", (0, 1, 1, 0)),
        ((2, 2, 2), (3, 3, 2), "", (1, 2, 1, 1)),
        ((4,), (3, 3, 2), "", (0, 0, 0, 0)),
        ((2, 2), (2, 2, 2), "bookkeeperClientRackawarePolicyEnabled=false", (0, 0, 0, 1)),
    ],
)
@pytest.mark.long
def test_what_the_page_says(
    tmp_path: Path, bookies: tuple[int, ...], quorums: tuple[int, int, int], text: str, figures: tuple[int, ...]
) -> None:
    by_name = rows(tmp_path, bookies, quorums, text)
    assert tuple(row.figure for row in by_name.values()) == figures
    assert all(row.is_known for row in by_name.values())


@pytest.mark.parametrize(("client", "figure"), [("4.14.5", 0), ("4.16.6", 1)])
def test_a_client_of_4_14_5_draws_a_rack_again_while_another_is_unused(tmp_path: Path, client: str, figure: int) -> None:
    """bookkeeper#3721: whichever release the bookies have."""
    assert rows(tmp_path, (2, 2, 2), (3, 3, 2), client=client)["racks"].figure == figure


def test_a_rack_that_takes_an_entry_is_shown_with_its_run(tmp_path: Path) -> None:
    row = rows(tmp_path, (2, 2), (3, 3, 2))["racks"]
    assert row.failure is not None
    assert row.failure.run[-2:] == ["acknowledge", "lose_rack(r0)"]
    assert "put the bookies on as many racks as the write quorum" in row.sentence


@pytest.mark.parametrize(
    ("bookies", "quorums", "text", "why"),
    [
        ((2, 2), (2, 2, 2), "bookkeeperClientRegionawarePolicyEnabled=true", "placement by regions is not modelled"),
        ((2, 2), (2, 2, 2), "bookkeeperClientIsolationGroups=a", "isolation groups are not modelled"),
        ((1, 1), (3, 2, 2), "", "an ensemble of 3 is larger than the 2 bookies of the racks"),
        ((4, 4), (6, 3, 2), "", "ensembles above 5"),
    ],
)
def test_of_what_is_not_modelled_nothing_is_claimed(
    tmp_path: Path, bookies: tuple[int, ...], quorums: tuple[int, int, int], text: str, why: str
) -> None:
    for row in rows(tmp_path, bookies, quorums, text).values():
        assert (row.figure, row.verdict) == (None, "inconclusive")
        assert why in row.gap


def test_a_number_of_racks_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"broker\.conf:2: .*MinNumRacks"):
        rows(tmp_path, (2, 2), (2, 2, 2), "bookkeeperClientMinNumRacksPerWriteQuorum=two")


def test_a_profile_names_the_racks(tmp_path: Path) -> None:
    profile = tmp_path / "cluster.toml"
    profile.write_text('conf = ["broker.conf"]\n[racks]\n"/a" = ["b0", "b1"]\n"/b" = ["b2"]\n')
    assert with_profile(CheckRequest(profile=profile)).racks == {"/a": ["b0", "b1"], "/b": ["b2"]}


@pytest.mark.parametrize(
    ("bookies", "racks"), [(["b0:1", "b1:1"], {"/a": ["b0:1"], "/b": ["b1:1"]}), (["b0:1", "b1:1", "b2:1"], {})]
)
def test_a_cluster_names_the_racks_if_each_bookie_has_one(bookies: list[str], racks: dict[str, list[str]]) -> None:
    info = {"default": {"b0:1": {"rack": "/a"}, "b1:1": {"rack": "/b"}}}
    files = Files(Path("eu"), {CLUSTER: json.dumps({"version": "5.0.1", "bookies": bookies, "racks": info})})
    assert files.racks == racks
