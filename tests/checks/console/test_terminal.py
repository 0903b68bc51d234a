"""What is printed to a terminal."""

from __future__ import annotations

import sys

import pytest

from fencepost.checks.console.printing import colour


def test_colour_is_for_terminals_whose_users_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert colour()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colour()
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    assert not colour()
