"""The pictures in the documentation are what the commands beside them draw."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.cli import main

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"


@pytest.mark.parametrize(
    ("protocol", "bug", "prop", "verb", "name"),
    [
        ("ledger", "closes_at_lac", "no_truncation", "diagram", "closes_at_lac.svg"),
        ("ownership", "released_without_version", "node_of_another_is_kept", "neighbourhood", "around.svg"),
    ],
)
def test_a_picture_is_what_the_command_draws(
    protocol: str, bug: str, prop: str, verb: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checked = ["check", protocol, "--bug", bug, "--property", prop, "--quiet", "--trace-dir", str(tmp_path)]
    assert main(checked) == 12
    (file,) = tmp_path.glob("*.itf.json")
    drawn = tmp_path / name
    assert main(["trace", verb, str(file), "--format", "svg", "--out", str(drawn)]) == 0
    assert capsys.readouterr().out.endswith(f"diagram: {drawn}\n")
    assert drawn.read_bytes() == (PICTURES / name).read_bytes(), f"draw {PICTURES / name} again"
