"""Inputs: each is read once in a run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fencepost.checks.inputs import input_files
from fencepost.checks.inputs.input_files import InputError, inputs_read_once, read_bytes
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
