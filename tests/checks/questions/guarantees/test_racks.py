"""What the racks and regions of a cluster's bookies guarantee, with the placement that the brokers' client is set to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.checks.cluster.saved import CLUSTER, Files
from fencepost.checks.commands.check.profile import with_profile
from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.engines.ahead import Means
from fencepost.checks.engines.plan import Approach
from fencepost.checks.questions.guarantees.copies import rack_guarantees
from fencepost.checks.questions.guarantees.establishing import Established, establish
from fencepost.checks.settings.broker_conf import ConfigurationError
from fencepost.checks.settings.cluster_settings import Racks, read_settings
from fencepost.model.releases import Releases
from tests.checks.questions.guarantees.sized import sized

MEANS = Means(Approach(by="exhaustive", workers=1, memory=1 << 28))
ENFORCED = "bookkeeperClientEnforceMinNumRacksPerWriteQuorum=true"
BY_REGIONS = "bookkeeperClientRegionawarePolicyEnabled=true"
LISTED = f"{BY_REGIONS}\nreppRegionsToWrite=r0;r1"
RACKS = ("racks", "usual_racks", "racks_after_outage", "racks_writing")
REGIONS = ("regions", "usual_regions", "regions_after_outage", "regions_writing")


def rows(
    folder: Path, bookies: tuple[int, ...], quorums: tuple[int, int, int], text: str = "", client: str | None = None
) -> dict[str, Established]:
    racks: Racks = {f"/{number}": [f"b{number}{b}" for b in range(count)] for number, count in enumerate(bookies)}
    return placed(folder, racks, quorums, text, client)


def by_region(
    folder: Path, regions: tuple[tuple[int, ...], ...], quorums: tuple[int, int, int], text: str
) -> dict[str, Established]:
    """The rows of racks named /r0/0, /r0/1, /r1/2 and so on, of which each region has some with these numbers of bookies."""
    counts = [(region, count) for region, of in enumerate(regions) for count in of]
    return placed(
        folder, {f"/r{r}/{n}": [f"b{n}{b}" for b in range(count)] for n, (r, count) in enumerate(counts)}, quorums, text
    )


def placed(
    folder: Path, racks: Racks, quorums: tuple[int, int, int], text: str, client: str | None = None
) -> dict[str, Established]:
    file = folder / "broker.conf"
    sizes = zip(("EnsembleSize", "WriteQuorum", "AckQuorum"), quorums, strict=True)
    file.write_text("".join(f"managedLedgerDefault{name}={size}\n" for name, size in sizes) + f"{text}\n")
    bookies = sum(map(len, racks.values()))
    of = sized(bookies, *quorums, Releases.of(client=client), settings=read_settings(file), racks=racks)
    return {guarantee.name: establish(guarantee, MEANS) for guarantee in rack_guarantees(of)}


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


@pytest.mark.parametrize(
    ("regions", "quorums", "text", "figures"),
    [
        (((2, 2), (2, 2)), (2, 2, 2), "", (0, 0, 0, 1)),
        (((2, 2), (2, 2)), (2, 2, 2), BY_REGIONS, (1, 1, 0, 1)),
        (((2, 2), (2, 2)), (4, 2, 2), BY_REGIONS, (0, 0, 0, 1)),
        (((2, 2), (2, 2)), (3, 3, 2), BY_REGIONS, (0, 1, 0, 1)),
        (((2, 2), (2, 2)), (3, 3, 3), LISTED, (1, 1, 0, 0)),
        (((3,), (3,)), (3, 3, 3), LISTED, (1, 1, 0, 1)),
        (((3,), (3,)), (4, 2, 2), LISTED, (0, 0, 0, 0)),
        (((2,), (2,), (2,)), (3, 3, 2), BY_REGIONS, (1, 2, 1, 1)),
    ],
)
@pytest.mark.long
def test_what_the_page_says_of_regions(
    tmp_path: Path, regions: tuple[tuple[int, ...], ...], quorums: tuple[int, int, int], text: str, figures: tuple[int, ...]
) -> None:
    by_name = by_region(tmp_path, regions, quorums, text)
    assert tuple(by_name[name].figure for name in REGIONS) == figures
    assert all(row.is_known for row in by_name.values())


def test_regions_are_asked_about_where_there_are_several(tmp_path: Path) -> None:
    assert tuple(by_region(tmp_path, ((1, 1),), (2, 2, 2), "")) == RACKS
    assert tuple(by_region(tmp_path, ((1,), (1,)), (2, 2, 2), "")) == (*RACKS, *REGIONS)


def test_a_region_that_takes_an_entry_is_shown_with_its_run(tmp_path: Path) -> None:
    row = by_region(tmp_path, ((2,), (2,)), (4, 2, 2), BY_REGIONS)["regions"]
    assert row.failure is not None
    assert row.failure.run[-1] == "lose_region(region0)"
    assert "an ensemble goes region by region: make it as small as the write quorum" in row.sentence


@pytest.mark.parametrize(
    ("regions", "quorums", "text", "why"),
    [
        (((2,), (2,)), (2, 2, 2), f"{BY_REGIONS}\nreppRegionsToWrite=r0;r2", "other regions than those of the racks, r0, r1"),
        (((2,), (2,)), (2, 2, 2), f"{BY_REGIONS}\nreppEnableValidation=false", "an ensemble that nobody validates"),
        (((2, 2), (2, 2)), (4, 2, 2), LISTED, "no ledger can be created: the policy by regions has no ensemble of 4"),
    ],
)
def test_of_regions_that_are_not_modelled_nothing_is_claimed(
    tmp_path: Path, regions: tuple[tuple[int, ...], ...], quorums: tuple[int, int, int], text: str, why: str
) -> None:
    for row in by_region(tmp_path, regions, quorums, text).values():
        assert (row.figure, row.verdict) == (None, "inconclusive")
        assert why in row.gap


def test_racks_of_different_depths_are_not_taken_for_good(tmp_path: Path) -> None:
    """NetworkTopologyImpl.add refuses the bookies of the second."""
    racks: Racks = {"/r0/a": ["b0", "b1"], "/b": ["b2", "b3"]}
    for row in placed(tmp_path, racks, (2, 2, 2), "").values():
        assert row.figure is None
        assert "/b and /r0/a are not of one depth: the client uses the bookies of one of them only" in row.gap


def test_listed_regions_with_which_no_ledger_can_be_created_are_an_error(tmp_path: Path) -> None:
    """RegionAwareEnsemblePlacementPolicy.newEnsemble throws an IllegalArgumentException for these quorums."""
    with pytest.raises(ConfigurationError, match=r"no ledger can be created: an ack quorum of 2 of 3 .*AckQuorum to 3"):
        by_region(tmp_path, ((2,), (2,)), (3, 3, 2), LISTED)


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
        ((2, 2), (2, 2, 2), "bookkeeperClientRegionawarePolicyEnabled=true", "not of the form /region/rack"),
        ((2, 2), (2, 2, 2), "bookkeeperClientIsolationGroups=a", "which bookies are in these groups is not known"),
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


def isolated(folder: Path, racks: str, ensemble: int, text: str = "", pulsar: str = "5.0.1") -> dict[str, Established]:
    """The rows of racks such as "2p+1s": two bookies of the primary group, and one of the secondary one."""
    parts = [(f"/{number}", int(part[:-1]), part[-1]) for number, part in enumerate(racks.split("+"))]
    by_rack: Racks = {rack: [f"{rack}{b}" for b in range(count)] for rack, count, _ in parts}
    groups = {kind: [b for rack, _, of in parts if of == kind for b in by_rack[rack]] for kind in "pso"}
    file = folder / "broker.conf"
    file.write_text(f"bookkeeperClientIsolationGroups=p\nbookkeeperClientSecondaryIsolationGroups=s\n{text}\n")
    bookies = sum(map(len, by_rack.values()))
    of = sized(bookies, ensemble, 2, 2, Releases.of(pulsar), settings=read_settings(file), racks=by_rack, groups=groups)
    return {guarantee.name: establish(guarantee, MEANS) for guarantee in rack_guarantees(of)}


@pytest.mark.parametrize(
    ("racks", "pulsar", "figures"),
    [
        ("2p+2p+2o", "5.0.1", (1, 1, 0, 1)),
        ("2p+2-", "5.0.1", (0, 0, 0, 1)),
        ("1p+1s", "5.0.1", (1, 1, 1, 0)),
        ("1p+1s+1-", "5.0.1", (1, 1, 1, 1)),
        ("1p+1s+1-", "4.2.4", (1, 1, 1, 0)),
    ],
)
def test_isolation_groups_say_which_racks_are_drawn_from(
    tmp_path: Path, racks: str, pulsar: str, figures: tuple[int, ...]
) -> None:
    by_name = isolated(tmp_path, racks, 2, pulsar=pulsar)
    assert tuple(by_name[name].figure for name in RACKS) == figures
    assert all(row.is_known for row in by_name.values())


def test_isolation_groups_take_the_place_of_the_policy_by_regions(tmp_path: Path) -> None:
    assert isolated(tmp_path, "2p+2p", 2, BY_REGIONS)["racks"].figure == 1


@pytest.mark.parametrize(
    ("racks", "text", "why"),
    [
        ("2p+2o", "", "no ledger can be created: an ensemble of 3 is larger than the 2 bookies of the groups"),
        ("3p+1o", "bookkeeperClientRackawarePolicyEnabled=false", "the client does not read the racks then"),
    ],
)
def test_of_groups_that_are_not_modelled_nothing_is_claimed(tmp_path: Path, racks: str, text: str, why: str) -> None:
    for row in isolated(tmp_path, racks, 3, text).values():
        assert row.figure is None
        assert why in row.gap
        assert str(tmp_path / "broker.conf") in row.gap


def test_a_rack_with_bookies_of_several_groups_is_not_modelled(tmp_path: Path) -> None:
    (tmp_path / "broker.conf").write_text("bookkeeperClientIsolationGroups=p\n")
    settings, racks = read_settings(tmp_path / "broker.conf"), {"/a": ["b0", "b1"], "/b": ["b2"]}
    of = sized(3, 2, 2, 2, settings=settings, racks=racks, groups={"p": ["b0", "b2"]})
    for row in (establish(guarantee, MEANS) for guarantee in rack_guarantees(of)):
        assert "/a has bookies that are in these groups and others: that is not modelled" in row.gap


def test_a_number_of_racks_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"broker\.conf:4: .*MinNumRacks"):
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
