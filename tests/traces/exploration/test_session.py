"""A session of Spark and Ctrl-C, without Spark."""

from __future__ import annotations

import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from fencepost.traces.exploration import session
from fencepost.traces.exploration.java import Java, SparkError
from fencepost.traces.exploration.session import require_master


class Spark:
    """What is asked for a session; somebody presses Ctrl-C while it starts."""

    stopped = False

    def __getattr__(self, name: str) -> Any:
        return lambda *given: self

    def getOrCreate(self) -> Spark:
        signal.raise_signal(signal.SIGINT)
        return self

    def stop(self) -> None:
        self.stopped = True


def test_ctrl_c_waits_for_what_it_can_end(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    spark, before = Spark(), signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(session, "SparkSession", type("Built", (), {"builder": spark}))
    monkeypatch.setattr(session, "chosen", lambda: Java(Path("java"), 17, "this test"))
    with pytest.raises(KeyboardInterrupt), session.spark_session():
        pytest.fail("the block has begun")
    assert spark.stopped
    assert signal.getsignal(signal.SIGINT) == before
    assert capsys.readouterr().err == "\n# spark: stopping as soon as it has started\n"


@pytest.mark.parametrize("master", ["foo:bar", "", "local[", "spark://", "spark://host", "spark//host:7077", "mesos"])
def test_what_is_no_master_is_said_to_be_none(master: str) -> None:
    with pytest.raises(SparkError, match=r"^there is no master .*: write local\[\*\], local\[N\], spark://HOST:PORT"):
        require_master(master)


@pytest.mark.parametrize("master", ["local", "local[*]", "local[2,3]", "yarn", "k8s://https://host:6443"])
def test_other_masters_are_for_spark_to_find(master: str) -> None:
    require_master(master)


def test_a_master_that_does_not_answer_is_said_in_a_line_before_a_jvm_starts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        require_master(f"spark://127.0.0.1:1,127.0.0.1:{port}")
    with pytest.raises(SparkError, match=rf"^spark://127.0.0.1:{port} does not answer: Connection refused; is the master"):
        require_master(f"spark://127.0.0.1:{port}")
