"""Inputs: each is read once in a run."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from fencepost.checks.cli import main
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.inputs import input_files
from fencepost.checks.inputs.input_files import MOST_BY_HAND, InputError, inputs_read_once, read_bytes
from fencepost.checks.settings.broker_conf import BrokerConf

CONF = b"managedLedgerDefaultEnsembleSize=4\n"


def test_a_pipe_is_read_once_and_has_its_settings_for_every_reader() -> None:
    reading, writing = os.pipe()
    os.write(writing, CONF)
    os.close(writing)
    path = Path(f"/dev/fd/{reading}")
    with inputs_read_once():
        taken = [BrokerConf(path).number("managedLedgerDefaultEnsembleSize", 2, "") for _ in range(2)]
    os.close(reading)
    assert [one.value for one in taken] == [4, 4]


def test_a_file_that_changes_within_a_run_is_what_it_was(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_bytes(CONF)
    with inputs_read_once():
        first = read_bytes(conf, "a broker.conf")
        conf.write_bytes(b"")
        assert read_bytes(conf, "a broker.conf") == first == CONF
    assert read_bytes(conf, "a broker.conf") == b""


def test_what_does_not_end_is_refused_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_files, "MOST", 10)
    with inputs_read_once():
        for _ in range(2):
            with pytest.raises(InputError, match="does not end"):
                read_bytes(Path("/dev/zero"), "a broker.conf")
    (tmp_path / "long.conf").write_bytes(CONF)
    assert read_bytes(tmp_path / "long.conf", "a broker.conf") == CONF


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--conf", "HUGE"),
        ("check", "--conf", "docs/examples/broker.conf", "--namespace", "orders=HUGE"),
        ("check", "--profile", "HUGE"),
        ("check", "election", "--baseline", "HUGE"),
        ("odds", "--numbers", "HUGE"),
        ("policy", "decide", "--conf", "HUGE", "--snapshot", "nowhere.json"),
    ],
)
def test_a_file_that_nobody_wrote_by_hand_is_refused_at_once(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    huge = tmp_path / "huge.yaml"
    with huge.open("wb") as file:
        file.truncate(100 << 20)  # nothing of it is on the disk, and nothing is to be read
    assert main([word.replace("HUGE", str(huge)) for word in words]) == ExitStatus.INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"fencepost: {huge}: has 100 MiB, more than the 16 MiB that ")


def test_of_a_pipe_no_more_is_read_than_such_a_file_has(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(b"a=1\n" * (17 << 18)))
    writer.start()
    with pytest.raises(InputError, match="has more than the 16 MiB that a broker"):
        read_bytes(tmp_path / "pipe", "a broker.conf", MOST_BY_HAND)
    writer.join()
