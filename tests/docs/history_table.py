"""The tables of a history as the reference shows them; ``python tests/docs/history_table.py`` writes them into the page."""

from __future__ import annotations

from pathlib import Path

from fencepost.checks.history.schema import TABLES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "tables.md"
BEGIN, END = "<!-- tables -->\n", "<!-- end of tables -->\n"


def tables() -> str:
    """Every table, with a line for each column."""
    parts = []
    for table in TABLES.values():
        rows = [
            f"| `{c.name}` | {c.type} | {c.unit} | {c.meaning}{f' (since version {c.since})' if c.since > 1 else ''} |"
            for c in table.columns
        ]
        key = ", ".join(f"`{name}`" for name in table.key)
        head = f"### {table.name}\n\nVersion {table.version}. A row: {table.row}. Rows of a cluster differ in {key}.\n\n"
        parts.append(f"{head}| column | type | unit | meaning |\n|---|---|---|---|\n" + "\n".join(rows) + "\n\n")
    return "".join(parts)


def shown() -> str:
    """What the page has between its marks."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


if __name__ == "__main__":
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{tables()}{END}{rest.partition(END)[2]}", encoding="utf-8")
