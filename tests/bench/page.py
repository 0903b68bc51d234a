"""Measures how soon the explorer's page has its model ready. Run by ``make bench``; without Chromium it says so."""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fencepost.traces.explorer.page import page
from tests.traces.explorer.chromium import running
from tests.traces.explorer.opened import NEEDED
from tests.traces.explorer.recorded import lost_entry

LOADING = """
const done = arguments[0];
(async () => {
  const times = [];
  for (let turn = 0; turn < 9; turn++) {
    const start = performance.now();
    const data = JSON.parse(document.getElementById("data").textContent);
    const again = new Runs(data.traces.map((told) => new Recording(told)));
    again.ready(await Promise.all(data.models.map(Model.of)));
    times.push(performance.now() - start);
  }
  done(times);
})();
"""


def main() -> None:
    """Prints the milliseconds, in the median of nine times."""
    with running() as chromium, tempfile.TemporaryDirectory() as folder:
        if chromium is None:
            print(f"page: not measured: {NEEDED}")
            return
        path = Path(folder) / "page.html"
        path.write_text(page([lost_entry()]), encoding="utf-8")
        chromium.get(path.as_uri())
        times = chromium.execute_async_script(LOADING)
        size = path.stat().st_size / 1000
        print(f"page of the ledger, {size:,.0f} kB: its model is ready in {statistics.median(times):.0f} ms, in the median")


if __name__ == "__main__":
    main()
