"""An operator's numbers: a table [odds], and what a configuration sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.checks.inputs.input_files import InputError
from fencepost.checks.odds.operator import with_file, with_settings
from fencepost.checks.odds.ways import Fleet
from fencepost.model.odds.numbers import MS_PER_YEAR, published


def written(folder: Path, text: str) -> Path:
    path = folder / "odds.toml"
    path.write_text(text)
    return path


def test_a_table_changes_numbers_and_the_fleet(tmp_path: Path) -> None:
    path = written(tmp_path, "[odds]\ntopics = 400\njournal = { ms = 1.5, factor = 1.5 }\nexpiries = 2\n")
    numbers, fleet = with_file(published(), Fleet(), path)
    assert fleet == Fleet(topics=400)
    assert (numbers["journal"], numbers.of("journal").factor) == (1.5, 1.5)
    assert (numbers["expiries"], numbers.of("expiries").factor, numbers.of("expiries").is_guess) == (2.0, 1.0, False)
    assert numbers.of("journal").source == f"{path}:3"
    assert numbers["recovery"] == 1.5 + numbers["network"] + 2 * numbers["metadata"]


def test_a_duration_has_a_law(tmp_path: Path) -> None:
    path = written(tmp_path, "[odds]\noutage = { ms = 9, law = 'heavy' }\nmetadata = 3\n")
    numbers, _ = with_file(published(), Fleet(), path)
    assert (numbers["outage"], numbers.of("outage").law, numbers.of("metadata").law) == (9.0, "heavy", "exponential")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("journal = 1", "has no table [odds]; write one"),
        ("[odds\n", "is not TOML"),
        ("[odds]\n\njornal = 1\n", "odds.toml:3: no number is named jornal (did you mean journal?); there are topics"),
        ("[odds]\njournal = -1\n", "odds.toml:2: journal = -1.0 is no positive number"),
        ("[odds]\njournal = { s = 1 }\n", "odds.toml:2: journal is not written as a number of odds; write journal = 1.5"),
        ("[odds]\njournal = { ms = 1, factor = 0.5 }\n", "write journal = 1.5, or journal = { ms = 1.5, factor = 2 }"),
        ("[odds]\noutage = { ms = 1, law = 'pareto' }\n", "a law is one of exponential, timer, constant, heavy"),
        ("[odds]\noutages = { per_year = 1, law = 'heavy' }\n", "outages is not written as a number of odds"),
        ("[odds]\ntopics = 0\n", "odds.toml:2: topics = 0 is not a count"),
        ("[odds]\nrecovery = 5\n", "odds.toml:2: recovery is journal + network + metadata: set these"),
        ("[odds]\ntogether = 2\n", "odds.toml:2: together = 2.0 is no share"),
    ],
)
def test_a_mistake_is_told_with_the_line_and_the_remedy(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        with_file(published(), Fleet(), written(tmp_path, text))
    assert message in str(raised.value)


def test_settings_are_periods_of_their_own_units(tmp_path: Path) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("managedLedgerMaxLedgerRolloverTimeMinutes=60\nbrokerDeleteInactiveTopicsFrequencySeconds=30\n")
    numbers = with_settings(published(), (conf,))
    assert numbers["rollovers"] == pytest.approx(MS_PER_YEAR / 3_600_000)
    assert numbers["inactive"] == 30_000
    assert numbers["checkpoint"] == published()["checkpoint"]
    assert numbers.of("inactive").source == f"brokerDeleteInactiveTopicsFrequencySeconds=30 ({conf}:2)"
