"""``tests/where.py`` finds where a printed line comes from."""

from __future__ import annotations

import pytest

from tests.where import features, places


def test_words_that_a_value_stands_between_are_no_pair() -> None:
    assert features("all 3 states") == {"all", "states"}
    assert features("all states") == {"all", "states", "all states"}


@pytest.mark.long
@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("MESSAGES CAN BE LOST: 11 ways; 2 need only one fault.", "checks/reports/front.py"),
        ("    after 1, 10 ways are left, which need at least one fault", "checks/reports/front.py"),
        ("  no_truncation does not hold in the last state", "traces/wording/text.py"),
        ("striping with ensemble 3, write quorum 2: proved up to entry 2147483646", "properties/ledger/striping.py"),
        ("  slice: 84 of 85 variables and 81 of 83 actions matter to what is checked", "checks/engines/search/exhaustive.py"),
        ("bugs.toml:1: shown_by: the protocol has no parameter 'broker' (did you mean brokers?)", "properties/bug_files.py"),
        ("A closed ledger ends at or after every entry confirmed to the application.", "properties/ledger/suite.py"),
    ],
)
def test_a_printed_line_has_its_place(line: str, file: str) -> None:
    assert file in [place.split(":")[0] for place in list(places(line))[:3]]
