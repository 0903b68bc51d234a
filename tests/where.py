"""Where a printed line comes from: python tests/where.py 'MESSAGES CAN BE LOST: 11 ways; 2 need only one fault.'

Prints the places in the source whose text is most like the line, the likeliest first. ``git grep`` does not find a line that
is put together from names and numbers.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice, pairwise
from math import log, sqrt
from pathlib import Path
from textwrap import shorten

ROOT = Path(__file__).resolve().parent.parent
FLOORS = ("model", "properties", "traces", "checks")
VALUE = " … "
"""Stands for what is put into a text."""


@cache
def source_texts() -> list[tuple[str, str]]:
    """Every text in the four floors, with its file and line."""
    files = sorted(path for floor in FLOORS for kind in ("py", "toml") for path in (ROOT / floor).rglob(f"*.{kind}"))
    return [(f"{path.relative_to(ROOT)}:{line}", text) for path in files for line, text in _texts(path)]


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a file with their lines: the strings of Python, the lines of TOML."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from enumerate(source.splitlines(), 1)
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def features(text: str) -> set[str]:
    """The words of a text, and the pairs of words that follow each other."""
    parts = re.findall(r"[a-z][a-z_]*|[^a-z\s]+", text.lower())
    words = {part for part in parts if part[0].isalpha()}
    return words | {f"{one} {two}" for one, two in pairwise(parts) if {one, two} <= words}


def places(line: str) -> dict[str, str]:
    """The texts that have words of the line, by their places, the likeliest first: rare words count more, and texts that have
    little else."""
    wanted = features(line)
    has_some = re.compile(rf"\b(?:{'|'.join(map(re.escape, wanted))})\b", re.IGNORECASE).search
    alike = [(place, text, features(text)) for place, text in source_texts() if has_some(text)]
    common = Counter(feature for _, _, has in alike for feature in has & wanted)

    def likeness(has: set[str]) -> float:
        shared = has & wanted
        return sum(1 + log(len(alike) / common[feature]) for feature in shared) * sqrt(len(shared) / len(has))

    found = dict[str, str]()
    for place, text, _ in sorted(alike, key=lambda each: -likeness(each[2])):
        found.setdefault(place, text)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("line", help="a line of output, of help or of an error")
    parser.add_argument("--most", type=int, default=5, help="how many places (default: 5)")
    options = parser.parse_args()
    for place, text in islice(places(options.line).items(), options.most):
        print(f"{place}: {shorten(text, 80)}")


if __name__ == "__main__":
    main()
