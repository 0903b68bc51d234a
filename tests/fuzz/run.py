"""Thousands of random protocols, each run by plain Python and by some of the engines: python tests/fuzz/run.py --count 5000.

Protocol number n of a seed is always the same, and so are the engines that are chosen for it. It prints how many protocols each
engine was compared on, and for each difference the protocol as a program.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fuzz import engines, exact, interrupted, refining
from tests.fuzz.case import Case, Difference, Refused
from tests.fuzz.drawing import drawn
from tests.fuzz.syntax import Spec
from tests.fuzz.writing import program

SLICE = 100
"""Protocols after which the counts are told."""

Comparison = Callable[[Case, Path], bool]


def _alone(compare: Callable[[Case], bool]) -> Comparison:
    return lambda case, folder: compare(case)


COMPARISONS: Mapping[str, tuple[Comparison, int]] = {
    "plain ~ native, one thread": (_alone(exact.native), 100),
    "kept code ~ one guard changed": (_alone(exact.stored_code), 25),
    "one thread ~ two threads": (_alone(exact.two_threads), 25),
    "plain ~ verdicts of a search": (_alone(exact.verdicts), 35),
    "plain ~ liveness": (_alone(exact.liveness), 35),
    "plain ~ search with symmetry": (_alone(exact.symmetry), 15),
    "plain ~ search of a slice": (_alone(exact.slices), 15),
    "plain ~ refinement": (_alone(refining.refinement), 10),
    "plain ~ search cut short": (_alone(interrupted.cut_short), 25),
    "one run ~ stopped and resumed": (interrupted.resumed, 12),
    "one run ~ killed and resumed": (interrupted.killed, 5),
    "one thread ~ two, and less memory": (interrupted.large, 30),
    "plain ~ induction": (_alone(engines.induction), 15),
    "Z3 ~ cvc5, which confirms a whole proof": (_alone(engines.confirmed), 3),
    "plain ~ walks": (_alone(engines.walks), 12),
    "plain ~ steered runs": (_alone(engines.steered), 20),
    "plain ~ machines": (_alone(engines.machine), 1),
}
"""By what is compared: how, and with how many of a hundred protocols."""


def compare(spec: Spec, chance: Random, counts: Counter[str], more: Mapping[str, tuple[Comparison, int]] = COMPARISONS) -> None:
    """Compares engines on a protocol, those that chance picks, and counts them; Difference if two differ."""
    try:
        case = Case(spec)
    except Refused:
        counts["refused by the language"] += 1
        return
    counts["plain ~ domains"] += 1
    if not exact.domains(case):
        return
    for name, (way, share) in more.items():
        if chance.randrange(100) < share:
            with tempfile.TemporaryDirectory() as folder:
                if way(case, Path(folder)):
                    counts[name] += 1


def spec_of(seed: int, number: int) -> Spec:
    """The protocol of that number."""
    return drawn(Random(f"{seed}/{number}"))


def main() -> int:
    """Runs what the command line asks for; 1 if there was a difference."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first protocol")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--only", metavar="WORDS", help="compare each protocol, in the ways with these words in their names")
    asked = parser.parse_args()
    comparisons = COMPARISONS
    if asked.only is not None:
        comparisons = {name: (way, 100) for name, (way, _) in COMPARISONS.items() if asked.only in name}
        if not comparisons:
            parser.error(f"no comparison has {asked.only!r} in its name; there are: {', '.join(COMPARISONS)}")
    counts, texts, differences, started = Counter[str](), set[Spec](), 0, time.monotonic()
    for number in range(asked.first, asked.first + asked.count):
        if (number - asked.first) % SLICE == 0 and number > asked.first:
            _tell(counts, number - asked.first, len(texts), differences, started)
        spec = spec_of(asked.seed, number)
        texts.add(spec)
        try:
            compare(spec, Random(number), counts, comparisons)
        except KeyboardInterrupt:
            asked.count = number - asked.first
            break
        except Exception as error:
            differences += 1
            print(f"=== seed {asked.seed}, protocol {number}: {type(error).__name__}: {error}", flush=True)
            if not isinstance(error, Difference):
                print(program(spec), flush=True)
    _tell(counts, asked.count, len(texts), differences, started)
    return int(differences > 0)


def _tell(counts: Counter[str], done: int, different: int, differences: int, started: float) -> None:
    print(f"{done} protocols, {different} different, {differences} differences, {time.monotonic() - started:.0f} s")
    for name, count in counts.items():
        print(f"{count:8,}  {name}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
