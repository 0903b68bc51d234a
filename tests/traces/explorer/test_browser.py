"""The explorer in a browser, clicked through."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from fencepost.traces.explorer.content import Recording
from fencepost.traces.trace import Loop
from tests.traces.explorer.opened import NEEDED, Page, missing
from tests.traces.explorer.recorded import LONG, explained, lamp, run, written

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.usefixtures("nothing_is_complained_of")]


def test_without_a_browser_tests_are_skipped_but_not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="needs Chromium"):
        missing()
    monkeypatch.delenv("CI")
    with pytest.raises(pytest.skip.Exception) as skipped:
        missing()
    assert str(skipped.value) == NEEDED


def test_it_opens_at_the_end_and_steps_by_keys(chromium: Any, lost: Path) -> None:
    shown = Page(chromium, lost)
    assert (shown.text("#headline"), shown.text("#outcome")) == ("no_truncation", "violated")
    assert (shown.text("#step-title"), shown.chosen) == ("Step 13 of 13", "close_recovered(r0)")
    shown.press(Keys.ARROW_UP)
    assert (shown.text("#step-title"), shown.chosen, shown.fragment) == (
        "Step 12 of 13",
        "read_no_such_entry(r0, b2)",
        "#trace=1&step=12",
    )
    shown.press(Keys.HOME)
    assert (shown.text("#step-title"), shown.chosen) == ("Initial state", "initial state")
    assert not shown.one("#to-previous").is_enabled()
    shown.press("j", Keys.PAGE_DOWN, Keys.ARROW_RIGHT)
    assert shown.chosen == "read_no_such_entry(r0, b2)"
    shown.press("k", Keys.ARROW_LEFT, Keys.PAGE_UP)
    assert shown.chosen == "initial state"
    shown.press(Keys.END, Keys.ARROW_DOWN)
    assert shown.text("#step-title") == "Step 13 of 13"


@pytest.mark.smoke
def test_it_steps_by_clicks(chromium: Any, lost: Path) -> None:
    shown = Page(chromium, lost, "#step=1")
    shown.click("#to-next")
    assert shown.chosen == "add(b0, e0)"
    shown.click("#row-4")
    assert shown.text("#step-title") == "Step 4 of 13"
    shown.click("#to-last")
    shown.click("#to-previous")
    assert shown.chosen == "read_no_such_entry(r0, b2)"
    shown.click("#to-first")
    assert shown.chosen == "initial state"
    shown.one("#slider").send_keys(Keys.ARROW_RIGHT)
    assert (shown.text("#step-title"), shown.one("#slider").get_attribute("value")) == ("Step 1 of 13", "1")


def test_a_step_shows_its_changes_and_the_state(chromium: Any, lost: Path) -> None:
    shown = Page(chromium, lost, "#step=11")
    assert "confirmed to the application" in shown.text("#step .doc")
    assert shown.text("#step .place").startswith("model/bookkeeper/ledger/writer.py:")
    changes = ["lac -1 → 0", "confirmed {} → {e0}", "acked[b0] {e0} → {}", "acked[b1] {e0} → {}"]
    assert shown.texts("#step .changes li") == changes
    assert (shown.variable("lac"), shown.variable("status")) == ("-1 → 0", "in_recovery")
    assert shown.marked == ["lac", "confirmed", "acked[b0]", "acked[b1]"]
    assert len(shown.all("#state tbody tr")) > 40
    shown.press("j")
    assert (shown.variable("lac"), shown.variable("no_such_entry[r0]")) == ("0", "{b1} → {b1, b2}")
    assert shown.marked == ["no_such_entry[r0]"]
    shown.press("k")
    assert (shown.variable("lac"), len(shown.marked)) == ("-1 → 0", 4)
    shown.click("#only")
    assert len(shown.all("#state tbody tr")) == 4


def test_properties_at_each_step(chromium: Any, lost: Path) -> None:
    shown = Page(chromium, lost)
    assert shown.word_of("no_truncation") == "violated"
    reason = shown.text('details[data-name="no_truncation"] .reason')
    assert reason.splitlines() == [
        "It does not hold from this step on:",
        "status = closed and e0 in confirmed => last >= 0",
        "status closed; last -1; confirmed {e0}",
    ]
    shown.press("V")
    assert (shown.chosen, shown.word_of("no_truncation")) == ("read_no_such_entry(r0, b2)", "holds")
    assert shown.word_of("nothing_confirmed_beyond_recovery") == "violated"
    assert shown.all('details[data-name="no_truncation"][open]') == []
    shown.click("#to-violation")
    assert shown.chosen == "close_recovered(r0)"
    shown.press("v")
    assert (shown.chosen, shown.word_of("no_such_entry_stays_true")) == ("add(b1, e0)", "violated")
    shown.press(Keys.ARROW_DOWN)
    shown.click('details[data-name="no_such_entry_stays_true"] .reason .link')
    assert shown.chosen == "add(b1, e0)"
    alike = shown.text('.alike[data-word="holds"] summary')
    assert alike.endswith("more hold throughout")
    shown.click('.alike[data-word="holds"] summary')
    assert "closed_is_final" in shown.text('.alike[data-word="holds"]')


def test_what_the_reader_opens_stays_open(chromium: Any, lost: Path) -> None:
    shown = Page(chromium, lost, "#step=1")
    shown.click('details[data-name="no_truncation"] summary')
    shown.click('.alike[data-word="holds"] summary')
    shown.press("j")
    assert len(shown.all('details[data-name="no_truncation"][open], .alike[data-word="holds"][open]')) == 2


def test_filters(chromium: Any, lost: Path) -> None:
    shown = Page(chromium, lost)
    for chip in shown.all("#actors .chip"):
        if chip.text == "b0":
            chip.click()
    assert shown.text("#count") == "5 of 13 steps"
    assert shown.labels == ["initial state", "send(e0)", "add(b0, e0)", "read_lac(r0, b0)", "ack(b0, e0)", "confirm(e0)"]
    shown.await_announcement("5 of 13 steps")
    shown.press(Keys.HOME, "j", "j", "j")
    assert shown.chosen == "read_lac(r0, b0)"
    shown.press("/")
    shown.press("fenced, taken_by_bookie")
    assert shown.labels == ["initial state", "add(b0, e0)", "read_lac(r0, b0)"]
    assert {row.get_attribute("data-variable") for row in shown.all("#state tbody tr")} == {
        f"{family}[b{number}]" for family in ("fenced", "taken_by_bookie") for number in range(3)
    }
    shown.press(Keys.ESCAPE, Keys.END)
    assert shown.text("#step-title") == "Step 13 of 13"
    shown.press("k")
    assert shown.chosen == "read_lac(r0, b0)"


def test_what_is_done_to_an_actor_is_among_its_steps(chromium: Any, lost: Path) -> None:
    shown = Page(chromium, lost)
    next(chip for chip in shown.all("#actors .chip") if chip.text == "b2").click()
    assert shown.labels == ["initial state", "send(e0)", "read_lac(r0, b2)", "read_no_such_entry(r0, b2)"]


def test_no_variable_is_left(chromium: Any, lost: Path) -> None:
    shown = Page(chromium, lost)
    shown.one("#variables").send_keys("nosuch")
    assert shown.labels == ["initial state"]
    assert shown.one("#nothing").is_displayed()
    assert not shown.one("#state").is_displayed()


def test_the_sequence_diagram(chromium: Any, lost: Path) -> None:
    shown = Page(chromium, lost)
    assert shown.texts("#heads .lane") == ["writer", "b0", "b1", "b2", "r0", "store"]
    lane = {name: place.rect for name, place in zip(shown.texts("#heads .lane"), shown.all("#heads .lane"), strict=True)}
    way = shown.one("#row-4 .lanes .way").rect  # read_lac(r0, b0)
    for end, name in ((way["x"], "b0"), (way["x"] + way["width"], "r0")):
        assert abs(end - (lane[name]["x"] + lane[name]["width"] / 2)) < 5, name
    assert len(shown.all("#row-2 .lanes .life")) == 6
    assert (len(shown.all("#row-1 .lanes .sent")), len(shown.all("#row-2 .lanes .sent"))) == (3, 0)
    assert shown.all("#row-6 .lanes .way") == []  # r0 starts to read: a step by itself


def test_two_traces_side_by_side(chromium: Any, lamps: Path) -> None:
    shown = Page(chromium, lamps)
    options = [option.text for option in shown.all("#second option")]
    assert options == ["nothing", "second", "endless"]
    shown.one("#second").send_keys("second")
    assert shown.fragment == "#trace=1&row=3&with=2"
    rows = [" ".join(shown.texts(f"#row-{place} .sign, #row-{place} .label")).split() for place in range(6)]
    assert rows == [
        ["initial", "state", "initial", "state"],
        ["switch_on", "switch_on"],
        ["switch_off", "switch_off"],
        ["+", "only", "in", "the", "second:", "forget"],
        ["switch_on", "switch_on"],
        ["\N{MINUS SIGN}", "only", "in", "the", "first:", "blow", ",", "a", "fault"],
    ]
    assert len(shown.all(".row.parting")) == 1
    assert "takes no step; still after step 2" in shown.text("#step .side:first-child")
    assert shown.variable("count") == "1 | 0"
    shown.press(Keys.ESCAPE, "j")  # from the list of traces to the steps
    assert shown.variable("count") == "2 | 1"
    assert shown.text('details[data-name="seldom"] summary') == "✕ seldom violated · second: ✓ holds"
    why = shown.text('details[data-name="seldom"] .reason')
    assert why.splitlines()[0] == "First: 1 of its 2 conditions does not hold from this step on:"
    shown.click("#only")
    assert [row.get_attribute("data-variable") for row in shown.all("#state tbody tr")] == ["count"]
    shown.click("#row-3")
    assert shown.text('details[data-name="never_forgotten"] .reason').startswith("Second: It does not hold of this step:")
    shown.press(Keys.HOME, "d")
    assert shown.text("#step-title") == "Row 3 of 5"
    shown.one("#second").send_keys("nothing")
    assert shown.fragment == "#trace=1&step=0"


def test_a_run_that_goes_on_for_ever(chromium: Any, lamps: Path) -> None:
    shown = Page(chromium, lamps, "#trace=3")
    assert shown.text("#summary") == "lamp: 5 steps, 2 of them forever"
    assert "This is the state after step 3 again: steps 4 to 5 repeat forever." in shown.text(".loop-note")
    assert "Enabled there, but nothing obliges it: blow" in shown.text(".loop-note")
    looping = [row.get_attribute("data-place") for row in shown.all(".row.looping")]
    assert looping == ["4", "5"]
    assert shown.word_of("goes_on") == "violated"
    shown.press("j")
    assert shown.text("#step-title") == "Step 4 of 5"
    shown.press("j", "j")
    assert shown.text("#step-title") == "Step 4 of 5"
    shown.press("l")
    assert shown.text("#step-title") == "Step 3 of 5"
    shown.press(Keys.END)
    shown.click(".loop-note .link")
    assert shown.text("#step-title") == "Step 3 of 5"
    assert not Page(chromium, lamps, "#trace=1").one("#to-loop").is_displayed()


def test_a_run_that_stops_for_ever(chromium: Any, pages: Path) -> None:
    suite = lamp()
    stopped = run(suite.protocol, ["switch_on", "blow"], "goes_on", Loop(2))
    shown = Page(chromium, written(pages, "stopped", [Recording("stopped", stopped, suite)]))
    assert shown.text("#summary") == "lamp: 2 steps, then stops forever"
    assert shown.text(".loop-note") == "The run stops here forever: nothing more is obliged to happen."
    assert shown.all(".looping") == []
    assert not shown.one("#to-next").is_enabled()


def test_a_step_with_a_run_that_explains_it(chromium: Any, pages: Path) -> None:
    shown = Page(chromium, written(pages, "explained", [explained()]), "#step=1")
    assert shown.all(".below") == []
    shown.press("j")
    assert shown.text(".below summary") == "the fuse blows; it comes to it so:"
    assert shown.texts(".below li code") == ["switch_on", "blow"]
    assert shown.texts(".below li .values")[1] == "lit yes → no; blown no → yes"
    assert ["↳" in label for label in shown.labels] == [False, False, True]


def test_a_run_without_a_step(chromium: Any, pages: Path) -> None:
    suite = lamp()
    shown = Page(chromium, written(pages, "still", [Recording("still", run(suite.protocol, []), suite)]))
    shown.press("j", "k", Keys.END, "v", "l", "d")
    assert (shown.text("#step-title"), shown.labels, shown.text("#headline")) == ("Initial state", ["initial state"], "lamp")
    assert len(shown.all("#state tbody tr")) == 3


@pytest.mark.parametrize(
    ("fragment", "title", "headline"),
    [
        ("#trace=2&step=3", "Step 3 of 4", "never_forgotten"),
        ("#trace=1&row=5&with=2", "Row 5 of 5", "seldom"),
        ("#trace=9&step=77", "Step 4 of 4", "seldom"),
        ("#trace=3&with=9", "Step 5 of 5", "goes_on"),
        ("#step=x&with=77&trace=%3Cb%3E", "Step 4 of 4", "seldom"),
        ("#trace=1&with=1", "Step 4 of 4", "seldom"),
    ],
)
def test_links_to_a_step(chromium: Any, lamps: Path, fragment: str, title: str, headline: str) -> None:
    shown = Page(chromium, lamps, fragment)
    assert (shown.text("#step-title"), shown.text("#headline")) == (title, headline)


def test_a_link_that_is_followed_within_the_page(chromium: Any, lamps: Path) -> None:
    shown = Page(chromium, lamps)
    shown.run("location.hash = '#trace=2&step=1'")
    assert (shown.text("#step-title"), shown.text("#headline")) == ("Step 1 of 4", "never_forgotten")
    shown.one("#first").send_keys("first")
    assert (shown.text("#headline"), shown.fragment) == ("seldom", "#trace=1&step=0")


def test_a_long_walk_has_only_what_is_in_view_in_the_page(chromium: Any, long: Path) -> None:
    shown = Page(chromium, long)
    assert shown.text("#step-title") == f"Step {LONG} of {LONG}"
    counts = []
    for keys in ([Keys.HOME], [Keys.PAGE_DOWN] * 30, [Keys.END], ["k"] * 50):
        shown.press(*keys)
        counts.append((len(shown.all(".row")), int(shown.run("return document.querySelectorAll('*').length"))))
    assert max(rows for rows, _ in counts) < 60
    assert max(elements for _, elements in counts) < 900
    assert (shown.text("#step-title"), shown.variable("count")) == (f"Step {LONG - 50} of {LONG}", str(LONG // 2 - 50))
    shown.run("document.getElementById('timeline').scrollTop = 1500 * 30")
    shown.run("return new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    shown.click("#row-1503")
    assert (shown.text("#step-title"), shown.chosen) == (f"Step 1503 of {LONG}", "switch_on")
    assert shown.variable("count") == "751 → 752"
    assert len(shown.all(".row")) < 60
    shown.one("#variables").send_keys("blown")
    assert shown.text("#count") == f"0 of {LONG} steps"
