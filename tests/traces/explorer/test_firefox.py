"""The explorer's page in Firefox: the model, the worker and the layout, as in Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from fencepost.traces.explorer.page import page
from tests.traces.explorer.firefox import Firefox, running
from tests.traces.explorer.opened import missing
from tests.traces.explorer.recorded import lost_entry

pytestmark = pytest.mark.xdist_group("browser")
NEEDED = "the explorer's page is tried in Firefox, too (Debian: apt install firefox-esr; Ubuntu: firefox)"


@pytest.fixture(scope="module")
def firefox() -> Iterator[Firefox]:
    browser = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
    if browser is None:
        missing(NEEDED)
    with running(browser) as it:
        yield it


def test_the_counterexample_is_left_in_firefox(firefox: Firefox, pages: Path) -> None:
    path = pages / "firefox.html"
    path.write_text(page([lost_entry()]), encoding="utf-8")
    firefox.open(path, "#step=5")
    firefox.run("playing")
    assert firefox.run("document.querySelector('#without').hidden")
    click = "[...document.querySelectorAll('#next .choice')].find((one) => one.textContent === '{}').click()"
    assert firefox.run("document.querySelector('#step-title').textContent") == "Step 5 of 13"
    for label in ("read_lac(r0, b1)", "start_reading(r0)"):
        firefox.run(click.format(label))
    assert firefox.run("[$('step-title').textContent, $('outcome').textContent]") == ["Step 7 of 7", "holds"]
    assert firefox.run("here().model.whyNot(here().model.numbers.get('add(b1, e0)'), here().state).false.length") > 0
    search = (
        "new Promise((done) => search(here().model, here().state, TARGET, 100000, "
        "(told) => (told.found || told.none || told.cut || told.error) && done(told)))"
    )
    there = firefox.run(search.replace("TARGET", "{terms: conditions('status = closed', here().model)}"))
    assert len(there["found"]) == there["depth"] > 0
    never = firefox.run(search.replace("TARGET", "{property: 'no_truncation', kind: 'always', step: false}"))
    assert never["none"]
    assert firefox.run("document.documentElement.scrollHeight <= innerHeight")
