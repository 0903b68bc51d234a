"""Measures what judging a leads-to takes: the graph of all states, its components, a lasso; time and memory of each case.

Run by ``make bench``. Each case runs in a process of its own, so that the peak of its memory is its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.checks.engines.search.liveness import Means, judge
from fencepost.model.kernel.search.search import search
from fencepost.model.language import And, Not, Protocol
from fencepost.properties.observed import Observed
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.vocabulary import Suite
from tests.bench.bench import show

HEADINGS = [
    "leads-to",
    "states",
    "transitions",
    "components",
    "loop",
    "search, s",
    "judged, s",
    "transitions/s",
    "to the goal",
    "peak, MiB",
]
MEMORY = 4 << 30
"""Bytes for states and transitions."""

GOAL = 10_000_000 / 60
"""Transitions a second of a processor that are asked for, search and judgement together."""


def wheels(count: int, teeth: int, *, always: bool) -> Suite:
    """Wheels that turn forever, each a tooth at a time, and a brake, which fits at every tooth of the first wheel but the
    last, or ``always``. All states without the brake are one component, which a fair run must leave only if it always fits."""
    p = Protocol("wheels")
    wheel = p.universe("wheel", count)
    at = p.number("at", 0, teeth - 1, per=wheel)
    braked = p.flag("braked")

    @p.step(by="w", w=wheel, fair=True)
    def turn(w: int) -> Any:
        """The wheel turns by one tooth."""
        return And(Not(braked), at[w] < teeth - 1), {at[w]: at[w] + 1}

    @p.step(by="w", w=wheel, fair=True)
    def start_again(w: int) -> Any:
        """The wheel is back where it began."""
        return And(Not(braked), at[w] == teeth - 1), {at[w]: 0}

    @p.step(by="guard", fair=True)
    def brake() -> Any:
        """All wheels stand still at their beginning."""
        return And(Not(braked), at[0] < (teeth if always else teeth - 1)), {braked: True, **{at[w]: 0 for w in wheel}}

    suite = Suite(p)

    @suite.leads_to
    def they_stop() -> Any:
        """The brake is put on in the end."""
        return p.state.at[0] == 0, p.state.braked

    return suite


def open_ledgers(**parameters: int) -> Suite:
    """An instance of the ledger with one leads-to, for whose runs every state is a component of its own."""
    entry = PROTOCOLS["ledger"]
    suite = entry.suite(entry.build(parameters))
    suite.properties[:] = [suite.named("open_ledgers_close")]
    return suite


CASES = {
    "wheels, one component to leave": lambda: wheels(5, 11, always=True),
    "wheels, a loop in the component": lambda: wheels(5, 11, always=False),
    "ledger, 4 bookies, 2 recoverers": lambda: open_ledgers(bookies=4, entries=1, recoverers=2, changes=1),
}


def measured(name: str) -> list[str]:
    """The row of one case."""
    suite = CASES[name]()
    observed = Observed.of(suite, suite.properties)
    observed.kernel.code  # noqa: B018  compiled before the clock runs
    began = time.process_time()
    result = search(observed.kernel, recording=MEMORY)
    searched = time.process_time()
    judged = judge(observed, result, Means(memory=MEMORY), "")
    ended = time.process_time()
    rate = int(str(judged.verdicts[0].reach["transitions"])) / (ended - began)
    (verdict,) = judged.verdicts
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 if sys.platform == "darwin" else 1024)
    return [
        name,
        *(str(verdict.reach[key]) for key in ("distinct", "transitions", "components")),
        str(verdict.reach.get("loop", "none")),
        f"{searched - began:.1f}",
        f"{ended - searched:.1f}",
        f"{rate:,.0f}",
        f"{rate / GOAL:.1f}x",
        f"{peak:.0f}",
    ]


def rows() -> list[list[str]]:
    """The rows of all cases, each measured in a process of its own."""
    asked = [[sys.executable, __file__, name] for name in CASES]
    return [json.loads(subprocess.run(each, capture_output=True, check=True, text=True).stdout) for each in asked]


def main() -> None:
    """Prints the table, or, for the name of a case, its row."""
    if len(sys.argv) > 1:
        print(json.dumps(measured(sys.argv[1])))
        return
    print()
    show([HEADINGS, *rows()])
    print("Seconds of a processor; search: transitions are recorded. peak: of the whole process, machine code included.")


if __name__ == "__main__":
    main()
