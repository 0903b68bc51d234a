"""A session of Spark and Ctrl-C, without Spark."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from fencepost.traces.exploration import session
from fencepost.traces.exploration.java import Java


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
