"""The explorer in a browser: whether everyone can read it, by eye, by key and by ear, and that it loads nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from tests.traces.explorer.opened import Page

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.usefixtures("nothing_is_complained_of")]


def test_a_screen_reader_is_told_each_step(chromium: Any, lost: Path) -> None:
    shown = Page(chromium, lost)
    shown.press("V")
    shown.await_announcement(
        "step 12 of 13, r0: read_no_such_entry(r0, b2); no_such_entry[r0] becomes {b1, b2}; "
        "nothing_confirmed_beyond_recovery becomes false"
    )
    timeline = shown.one("#timeline")
    assert (timeline.aria_role, timeline.accessible_name) == ("listbox", "Steps")
    row = shown.one("#row-12")
    assert (row.aria_role, row.get_attribute("aria-posinset"), row.get_attribute("aria-setsize")) == ("option", "13", "14")
    assert row.accessible_name == "12 nothing_confirmed_beyond_recovery becomes false r0 read_no_such_entry(r0, b2)"


@pytest.mark.parametrize("fragment", ["#trace=1", "#trace=1&row=3&with=2"])
def test_whatever_takes_the_focus_shows_it_and_has_a_name(chromium: Any, lamps: Path, fragment: str) -> None:
    shown = Page(chromium, lamps, fragment)
    shown.run("document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')")
    named: dict[str, str] = {}
    for _ in range(60):
        shown.press(Keys.TAB)
        focused = chromium.switch_to.active_element
        if focused.tag_name == "body" or focused.id in named:
            break
        named[focused.id] = focused.accessible_name
        drawn = shown.run(
            "const at = document.activeElement; const row = at.querySelector('[aria-selected=true]') ?? at;"
            "return [at, row].some((one) => getComputedStyle(one).outlineStyle !== 'none')"
        )
        assert drawn, focused.accessible_name
    assert len(named) > 15
    assert all(named.values()), named
    assert {"Steps", "The chosen step", "Step", "Keys"} <= set(named.values())


def test_the_keys_are_told(chromium: Any, lost: Path) -> None:
    shown = Page(chromium, lost)
    shown.press("?")
    assert shown.one("#keys").is_displayed()
    shown.press("k")
    assert shown.text("#step-title") == "Step 13 of 13"
    shown.press(Keys.ESCAPE)
    assert not shown.one("#keys").is_displayed()


CONTRAST = """
const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const over = (colour, below) => {
  probe.fillStyle = `rgb(${below})`; probe.fillRect(0, 0, 1, 1);
  probe.fillStyle = colour; probe.fillRect(0, 0, 1, 1);
  return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const behind = (element) => {
  const below = element.parentElement ? behind(element.parentElement) : [255, 255, 255];
  return over(getComputedStyle(element).backgroundColor, below);
};
const light = (rgb) => rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
const poor = [];
let judged = 0;
for (const element of document.body.querySelectorAll("*")) {
  const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
  if (!hasText || !element.checkVisibility() || element.closest("script, :disabled, .unseen")) continue;
  const paper = behind(element);
  const [one, other] = [light(over(getComputedStyle(element).color, paper)), light(paper)];
  const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  judged += 1;
  if (ratio < 4.5) poor.push([element.tagName, element.className, element.textContent.slice(0, 20), ratio].join(" "));
}
return [judged, poor];
"""


def test_light_and_dark_can_both_be_read(chromium: Any, lost: Path, lamps: Path) -> None:
    papers = set()
    for scheme in ("light", "dark"):
        chromium.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        )
        for path, fragment in ((lost, ""), (lamps, "#trace=1&row=3&with=2"), (lamps, "#trace=3")):
            shown = Page(chromium, path, fragment)
            judged, poor = shown.run(CONTRAST)
            assert (judged > 40, poor) == (True, []), scheme
        papers.add(shown.one("body").value_of_css_property("color"))
        shown.press("t")
        papers.add(shown.one("body").value_of_css_property("color"))
        assert shown.one("#theme").get_attribute("aria-pressed") == ("true" if scheme == "light" else "false")
    assert len(papers) == 2


def test_a_narrow_screen_shows_all_without_scrolling_sideways(chromium: Any, lost: Path) -> None:
    shown = Page(chromium, lost)
    chromium.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False}
    )
    try:
        assert shown.run("return document.documentElement.scrollWidth <= innerWidth")
        assert shown.one("#row-12 .lanes").is_displayed()
        shown.click("#to-previous")
        assert shown.text("#step-title") == "Step 12 of 13"
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_nothing_is_loaded(chromium: Any, lost: Path) -> None:
    shown = Page(chromium, lost)
    assert shown.run("return performance.getEntriesByType('resource').map((entry) => entry.name)") == []
    refused = chromium.execute_async_script(
        "const done = arguments[0];"
        "document.addEventListener('securitypolicyviolation', (event) => done(event.violatedDirective));"
        "new Image().src = 'http://127.0.0.1:9/x.png';"
    )
    assert refused == "img-src"
    assert any("violates the following Content Security Policy" in entry["message"] for entry in chromium.get_log("browser"))
