"""What a page to play with begins with, and how it is used on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from fencepost.properties.protocols import PROTOCOLS
from fencepost.traces.explorer.content import Recording, content
from fencepost.traces.explorer.guide import Guide
from fencepost.traces.explorer.page import page
from fencepost.traces.files.itf import read
from fencepost.traces.replay import replay_on
from tests.traces.explorer.recorded import lamp, lost_entry, run
from tests.traces.explorer.test_playing import Playing

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.usefixtures("nothing_is_complained_of")]

PHONE = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}


@pytest.fixture(scope="module")
def guided(pages: Path) -> Path:
    """A lamp with a guide, and beside it a run to a bug of the ledger."""
    suite, lost = lamp(), lost_entry()
    (bug,) = lost.trace.bugs
    of_lamp = Guide("a lamp, and who switches it", suite).content
    of_bug = Guide("a ledger", lost.suite, bug, 1).content["bug"]
    recordings = [Recording("off", run(suite.protocol, []), suite), lost]
    path = pages / "guided.html"
    path.write_text(page(recordings, data=content(recordings) | {"guide": of_lamp | {"bug": of_bug}}), encoding="utf-8")
    return path


@pytest.fixture
def downloads(chromium: Any, tmp_path: Path) -> Path:
    """Where the browser puts what a page saves."""
    chromium.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    return tmp_path


def test_a_page_begins_with_what_it_is_about(chromium: Any, guided: Path) -> None:
    shown = Playing(chromium, guided)
    assert shown.text("#guide-about") == "a lamp, and who switches it"
    assert shown.text("#guide-actors").startswith("Who acts: guest, host")
    assert shown.text("#guide-wrong") == "What can go wrong: blow"
    assert [len(text) > 10 for text in shown.texts("#guide .try button")] == [True] * 3
    assert shown.text('.alike[data-word="none"] summary').endswith("about steps, and none has been taken")


def test_a_fault_is_injected_and_taken_back_by_ctrl_z(chromium: Any, guided: Path) -> None:
    shown = Playing(chromium, guided)
    shown.click("#try-fault")
    assert shown.taken == ["blow"]
    assert not shown.one("#guide").get_property("open"), "the choices have the room"
    ActionChains(chromium).key_down(Keys.CONTROL).send_keys("z").key_up(Keys.CONTROL).perform()
    assert shown.taken == []


def test_a_run_to_a_known_bug_is_followed_from_its_start(chromium: Any, guided: Path) -> None:
    shown = Playing(chromium, guided)
    shown.click("#try-bug")
    assert (shown.text("#headline"), shown.text("#step-title")) == ("no_truncation", "Initial state")


def test_a_property_to_break_is_the_target_of_the_search(chromium: Any, guided: Path) -> None:
    shown = Playing(chromium, guided)
    shown.click("#try-property")
    wanted = shown.run("return document.getElementById('target').value")
    assert shown.text("#try-property").endswith(f": {wanted}")
    shown.click("#search-close")


CUT = """return [...document.querySelectorAll('.row .label, #heads .lane')].filter(one => one.scrollWidth > one.clientWidth)
    .map(one => one.textContent)"""
"""What of the timeline ends in three dots."""


@pytest.fixture
def phone(chromium: Any, guided: Path) -> Iterator[Playing]:
    shown = Playing(chromium, guided)
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    chromium.refresh()
    shown.until("return document.documentElement.dataset.ready === 'yes'")
    yield shown
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_on_a_phone_the_choices_are_below_the_step_and_nothing_is_cut(phone: Playing) -> None:
    phone.choose("switch_on")
    row, step, choices = (
        phone.run(f"const box = document.querySelector({name!r}).getBoundingClientRect(); return [box.top, box.bottom]")
        for name in (".row[aria-selected=true]", "#step", "#next")
    )
    assert row[1] <= step[0] < step[1] <= choices[0]
    assert choices[0] - row[1] < 400, "one screen has the step and what can happen next"
    wide = (
        "return [...document.querySelectorAll('button, select, p, h1, h2, dd, summary')].filter(one => one.offsetParent"
        " && !one.closest('#timeline, #heads') && one.getBoundingClientRect().right > 400)"
        ".map(one => one.id || one.textContent)"
    )
    assert phone.run(wide) == []
    assert phone.run("return document.documentElement.scrollWidth") == 400


def test_on_a_phone_a_run_is_left_and_its_branch_saved(phone: Playing, downloads: Path) -> None:
    phone.click("#try-bug")
    phone.click("#to-last")
    assert phone.run(CUT) == []
    last = phone.text("#step-title")
    for _ in range(8):
        phone.click("#to-previous")
    assert "read_lac(r0, b1)" in phone.choices
    phone.choose("read_lac(r0, b1)")
    assert (phone.chosen, phone.text("#step-title") == last) == ("read_lac(r0, b1)", False)
    phone.click("#save")
    (file,) = phone.wait(lambda: [file for file in downloads.glob("*.itf.json") if file.stat().st_size])
    trace, protocol = read(file, PROTOCOLS)
    assert trace.steps[-1].action == "read_lac(r0, b1)"
    assert replay_on(trace, protocol, PROTOCOLS["ledger"].suite(protocol)).replays
