"""The tables, without Spark: the page has them, and older versions lack what is new."""

from __future__ import annotations

import pytest

from fencepost.checks.history.schema import LOADS, TABLES, Column, Table
from tests.docs.history_table import shown, tables


def test_the_reference_shows_every_table() -> None:
    assert shown() == tables()


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_keys_are_columns_and_no_column_is_newer_than_its_table(table: Table) -> None:
    names = {column.name for column in table.columns}
    assert {*table.key, table.spread} <= names
    assert max(column.since for column in table.columns) <= table.version
    assert "time" in names, "from which the day follows"
    assert all(column.meaning for column in table.columns)
    assert all(column.unit for column in table.columns if column.type in ("bigint", "double", "timestamp"))


def test_a_row_of_an_older_version_lacks_what_is_new() -> None:
    assert "reported" in LOADS.of(2)
    assert "reported" not in LOADS.of(1)
    assert "CAST(NULL AS timestamp) AS `reported`" in LOADS.upgrade(1)
    assert "`reported` AS `reported`" in LOADS.upgrade(2)


def test_a_renamed_column_is_read_by_its_old_name() -> None:
    columns = (Column("time", "timestamp", "UTC", "when"), Column("now", "double", "s", "renamed"))
    table = Table("made", "up", columns, ("time",), "time", version=3, renamed={3: {"then": "now"}})
    assert table.of(2) == "`time` timestamp, `then` double"
    assert table.upgrade(1)[1] == "`then` AS `now`"
    assert table.upgrade(3)[1] == "`now` AS `now`"
