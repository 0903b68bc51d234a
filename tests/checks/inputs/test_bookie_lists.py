"""Bookies as commands list them: how many there are, and what a lost rack takes with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.settings.cluster_settings import Settings, read_settings

LOGGED = "2026-11-02T10:00:01,123 [main] INFO  org.apache.bookkeeper.tools - "
LINE = LOGGED + "BookieID:bk-{n}:3181, IP:10.0.0.{n}, Port:3181, Hostname:bk-{n}"
HEAD = LOGGED + "{which} Bookies :"
PLACED = """\
{"default": {"bk-0:3181": {"rack": "/eu/a", "hostname": "bk-0"}, "bk-1:3181": {"rack": "/eu/b", "hostname": "bk-1"},
 "bk-2:3181": {"rack": "/eu/b", "hostname": "bk-2"}}}
"""


def read(folder: Path, text: str, name: str) -> Settings:
    broker, file = folder / "broker.conf", folder / name
    broker.write_text("managedLedgerDefaultEnsembleSize=2\n")
    file.write_text(text)
    return read_settings(broker, file)


def count(settings: Settings) -> tuple[int, int]:
    assert settings.deployment.count is not None
    return settings.deployment.count.value, settings.deployment.count.place.line if settings.deployment.count.place else 0


@pytest.mark.parametrize("prefixed", [True, False])
def test_bookies_that_can_be_written_to_are_counted(prefixed: bool, tmp_path: Path) -> None:
    parts = [HEAD.format(which="ReadWrite"), *(LINE.format(n=n) for n in range(4)), HEAD.format(which="Readonly")]
    lines = [*parts, LINE.format(n=7)]
    settings = read(tmp_path, "\n".join(line if prefixed else line.partition(" - ")[2] for line in lines), "bookies.txt")
    assert count(settings) == (4, 1)
    assert any("1 bookie can only be read, and is not counted" in note for note in settings.all_notes)


def test_of_all_bookies_alone_all_are_counted(tmp_path: Path) -> None:
    settings = read(tmp_path, "\n".join([HEAD.format(which="All"), *(LINE.format(n=n) for n in (1, 2, 2))]), "all.txt")
    assert count(settings) == (2, 1)


def test_racks_say_what_is_lost_at_once(tmp_path: Path) -> None:
    settings = read(tmp_path, PLACED, "racks.json")
    assert count(settings)[0] == 3
    assert any("2 racks: if /eu/b is lost, 2 of 3 bookies are lost at once" in note for note in settings.all_notes)


def test_the_list_of_pulsar_admin(tmp_path: Path) -> None:
    assert count(read(tmp_path, '{"bookies": [{"bookieId": "a:3181"}, {"bookieId": "b:3181"}]}\n', "list.json"))[0] == 2
