"""Brings what the documentation shows up to date: python tests/docs/refresh.py [--deep | --tables] [DOCUMENT...]."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.docs.examples import DOCUMENTS, Session, refreshed  # noqa: E402
from tests.docs.tables import with_tables  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("documents", nargs="*", type=Path, default=DOCUMENTS)
    parser.add_argument("--deep", action="store_true", help="also what takes long")
    parser.add_argument("--tables", action="store_true", help="only the tables, which no command prints: seconds")
    options = parser.parse_args()
    examples = () if options.tables else (False, True) if options.deep else (False,)
    for path in options.documents:
        before = text = path.read_text(encoding="utf-8")
        for deep in examples:
            with tempfile.TemporaryDirectory() as folder:
                text = refreshed(text, Session(Path(folder)), deep=deep)
        text = with_tables(text, path.stem)
        if text != before:
            path.write_text(text, encoding="utf-8")
            print(f"changed: {path}")


if __name__ == "__main__":
    main()
