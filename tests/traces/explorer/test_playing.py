"""The model in the page: going on from any state, in a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By

from fencepost.properties.protocols import PROTOCOLS
from fencepost.traces.explorer.content import Recording, content
from fencepost.traces.explorer.page import page
from fencepost.traces.files.itf import read
from fencepost.traces.replay import replay_on
from tests.traces.explorer.opened import Page
from tests.traces.explorer.recorded import UNFENCED, lamp, lost_entry, run, written

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.usefixtures("nothing_is_complained_of")]


@pytest.fixture(scope="module")
def lost(pages: Path) -> Path:
    return written(pages, "playing", [lost_entry()])


@pytest.fixture(scope="module")
def lamps(pages: Path) -> Path:
    suite = lamp()
    return written(pages, "lamps-playing", [Recording("off", run(suite.protocol, []), suite)])


class Playing(Page):
    """A page whose model is there."""

    def __init__(self, browser: Any, path: Path, fragment: str = "") -> None:
        super().__init__(browser, path, fragment)
        self.until("return document.documentElement.dataset.ready === 'yes'")

    def until(self, script: str) -> None:
        self.wait(lambda: self.run(script))

    def choose(self, label: str) -> None:
        (button,) = [one for one in self.all("#next .choice") if one.text == label]
        button.click()

    @property
    def choices(self) -> list[str]:
        return self.texts("#next .choice")

    @property
    def taken(self) -> list[str]:
        return list(self.run("return recordings[chosen.first].steps.map(([n]) => recordings[chosen.first].actions[n].label)"))


def test_another_choice_at_step_six_and_the_property_holds(chromium: Any, lost: Path) -> None:
    """The README's counterexample: one of the reads that recovery goes by fences instead."""
    shown = Playing(chromium, lost, "#step=13")
    assert (shown.text("#headline"), shown.text("#outcome"), shown.word_of("no_truncation")) == (
        *("no_truncation", "violated"),
        "violated",
    )
    for _ in range(7):
        shown.click("#to-previous")
    assert shown.chosen == "start_reading(r0)"
    shown.click("#to-previous")  # it has not begun to read yet: b1 may still be asked, and is fenced by that
    assert "read_lac(r0, b1)" in shown.choices
    shown.choose("read_lac(r0, b1)")
    assert (shown.text("#step-title"), shown.chosen, shown.variable("fenced[b1]")) == (
        "Step 6 of 6",
        "read_lac(r0, b1)",
        "no → yes",
    )
    shown.choose("start_reading(r0)")
    assert "add(b1, e0)" not in shown.choices
    shown.click(".disabled > summary")
    shown.until("return document.querySelector('.disabled li details') !== null")
    (refused,) = [one for one in shown.all(".disabled li details") if one.get_attribute("data-name") == "add(b1, e0)"]
    refused.find_element(By.TAG_NAME, "summary").click()
    shown.wait(lambda: "fenced[b1] yes" in refused.text)
    for label in ("read_no_such_entry(r0, b1)", "read_no_such_entry(r0, b2)", "close_recovered(r0)"):
        shown.choose(label)
    assert (shown.text("#outcome"), shown.word_of("no_truncation")) == ("holds", "holds")
    assert shown.text("#first option:checked") == "branch 1"
    shown.click("#undo")
    assert shown.taken[-1] == "read_no_such_entry(r0, b2)"


def test_the_page_judges_a_run_as_python_does(chromium: Any, lost: Path) -> None:
    Playing(chromium, lost)
    reference = json.loads(json.dumps(content([lost_entry()])["traces"][0]))
    script = "const {run} = recordings[0]; return run.model.told(run, run.violated)"
    mine = chromium.execute_script(script)
    for name in ("words", "initial", "steps", "lanes", "properties"):
        rows = [{key: one[key] for key in reference[name][0]} for one in mine[name]] if name == "properties" else mine[name]
        assert rows == reference[name], name


def test_the_page_judges_steps_and_ends_as_python_does(chromium: Any, pages: Path) -> None:
    suite = lamp()
    labels = ["switch_on", "switch_off", "forget", "switch_on", "switch_off", "switch_on", "blow"]
    recording = Recording("all", run(suite.protocol, labels, "seldom"), suite)
    path = pages / "judged.html"
    path.write_text(page([recording]), encoding="utf-8")
    Playing(chromium, path)
    reference = json.loads(json.dumps(content([recording])["traces"][0]["properties"]))
    mine = chromium.execute_script("const {run} = recordings[0]; return run.model.told(run, run.violated).properties")
    assert [{key: one[key] for key in reference[0]} for one in mine] == reference


def test_faults_stand_apart_with_their_budgets(chromium: Any, lost: Path, lamps: Path) -> None:
    shown = Playing(chromium, lamps)
    assert shown.texts("#next .by .actor") == ["guest", "host", "fuse"]
    assert shown.texts("#next h3 ~ .by .choice.fault") == ["blow"]
    assert Playing(chromium, lost, "#step=0").texts("#next .budgets li") == [
        f"{name} 0 of {limit} spent" for name, limit in lost_entry().suite.protocol.budgets.items() if limit
    ]


def test_what_is_under_way_says_from_whom(chromium: Any, lost: Path) -> None:
    Playing(chromium, lost, "#step=3")
    hears = (
        "return [...document.querySelectorAll('#next .choice[data-hears]')].map((one) => [one.textContent, one.dataset.hears])"
    )
    assert chromium.execute_script(hears) == [
        *(["ack(b0, e0)", "b0"], ["add(b1, e0)", "writer"], ["add(b2, e0)", "writer"]),
    ]


def test_the_address_leads_back_to_a_branch(chromium: Any, lost: Path) -> None:
    shown = Playing(chromium, lost, "#step=5")
    shown.choose("read_lac(r0, b1)")
    shown.choose("start_reading(r0)")
    shown.click("#to-previous")
    fragment, taken = shown.fragment, shown.taken
    assert fragment.startswith("#trace=1.5.")
    again = Playing(chromium, lost, fragment)
    assert (again.taken, again.fragment, again.text("#step-title")) == (taken, fragment, "Step 6 of 7")


def test_what_is_sent_is_drawn_where_it_is_sent_and_marked_until_it_arrives(chromium: Any, lost: Path) -> None:
    shown = Playing(chromium, lost, "#step=0")
    shown.until("return document.querySelectorAll('#row-1 .pending').length > 0")
    marks = "return [...document.querySelectorAll('#row-%d .%s')].map((line) => Math.floor(line.x2.baseVal.value / width))"
    assert shown.run(marks % (1, "sent")) == [1, 2, 3]
    assert shown.run("return recordings[0].lanes") == ["writer", "b0", "b1", "b2", "r0", "store"]
    assert [sorted(set(shown.run(marks % (row, "pending")))) for row in (0, 1, 2, 13)] == [[], [1, 2, 3], [0, 1, 2, 3], []]


def test_the_name_of_a_branch_is_in_its_address(chromium: Any, lost: Path) -> None:
    shown = Playing(chromium, lost, "#step=5")
    shown.choose("read_lac(r0, b1)")
    shown.run("const n = document.getElementById('name'); n.value = 'b1. fenced & \u00fc'; n.oninput()")
    again = Playing(chromium, lost, shown.fragment)
    assert (again.text("#first option:checked"), again.one("#name").get_attribute("value")) == ("b1. fenced & \u00fc",) * 2
    again.click("#to-first")
    again.choose("recover(r0)")
    assert again.text("#first option:checked") == "branch 1"


def test_branches_are_named_and_compared(chromium: Any, lost: Path) -> None:
    shown = Playing(chromium, lost, "#step=5")
    shown.choose("read_lac(r0, b1)")
    shown.run("document.getElementById('name').value = ''")
    shown.one("#name").send_keys("fenced")
    assert shown.texts("#first option") == ["lost", "fenced"]
    shown.run("const s = document.getElementById('second'); s.value = 0; s.onchange()")
    assert shown.text("#step-title") == "Row 6 of 14"
    assert shown.run("return course.steps.filter(([a, b]) => a !== null && b !== null).length") == 6  # with the initial states
    assert not shown.one("#next-section").is_displayed()


def test_a_run_is_saved_replayed_and_loaded(chromium: Any, lost: Path, tmp_path: Path) -> None:
    shown = Playing(chromium, lost, "#step=5")
    shown.choose("read_lac(r0, b1)")
    path = tmp_path / "fenced.itf.json"
    path.write_text(shown.run("return fileOf(here(), runs.ends(chosen.first))"), encoding="utf-8")
    trace, protocol = read(path, PROTOCOLS)
    assert (trace.violated, [step.action for step in trace.steps]) == (None, [*UNFENCED[:5], "read_lac(r0, b1)"])
    assert replay_on(trace, protocol, PROTOCOLS["ledger"].suite(protocol)).replays
    violated = tmp_path / "lost.itf.json"
    violated.write_text(shown.run("open(0, -1, 13); return fileOf(here(), runs.ends(0))"), encoding="utf-8")
    again, protocol = read(violated, PROTOCOLS)
    assert again.violated == "no_truncation"
    assert replay_on(again, protocol, PROTOCOLS["ledger"].suite(protocol)).replays
    shown.one("#load").send_keys(str(path))
    shown.until("return recordings.length === 3")
    assert (shown.taken[-1], shown.text("#first option:checked")) == ("read_lac(r0, b1)", "fenced")
    path.write_text(path.read_text(encoding="utf-8").replace('"start_reading"', '"close"'), encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace('"protocol": "ledger"', '"protocol": "bookie"'), encoding="utf-8")
    shown.one("#load").send_keys(str(path))
    shown.until("return document.getElementById('count').textContent.includes('not in this page')")


def test_a_run_as_a_test(chromium: Any, lost: Path) -> None:
    shown = Playing(chromium, lost)
    shown.click("#pin")
    text = shown.text("#test-text")
    compile(text, "pinned", "exec")
    assert "test_no_truncation_is_violated(fencepost_replay)" in text
    assert f'with_name("{shown.text("#test-file")}")' in text


def test_the_shortest_way_to_a_violation(chromium: Any, lamps: Path, lost: Path) -> None:
    shown = Playing(chromium, lamps)
    status = searched(shown, "seldom")
    assert (status, shown.taken) == ("Found, 3 steps from here", ["switch_on", "switch_off", "switch_on"])
    assert shown.word_of("seldom") == "violated"
    assert searched(Playing(chromium, lamps), "never_forgotten") == "Found, 3 steps from here"
    assert searched(Playing(chromium, lamps), "dark") == "Found, 1 step from here"


def test_the_shortest_way_to_a_state(chromium: Any, lamps: Path) -> None:
    shown = Playing(chromium, lamps)
    assert searched(shown, "", "count = 2, lit = no") == "Found, 4 steps from here"
    assert searched(shown, "", "count = 2, blown = no, lit = no") == "It is so here."
    assert searched(shown, "", "lit = perhaps") == "lit is never perhaps: it is yes or no"
    assert searched(shown, "", "count > 1000", most=1000).startswith("Not found: it stopped after 1,0")


def test_a_search_sees_all_states_and_stops_when_told(chromium: Any, lost: Path) -> None:
    shown = Playing(chromium, lost, "#step=5")
    shown.choose("read_lac(r0, b1)")
    assert searched(shown, "no_truncation").startswith("There is no way: all ")
    begun(Playing(chromium, lost, "#step=0"), "", "status = open, status = closed")
    shown.until("return document.getElementById('search-told').textContent.includes(' states')")
    at_it, told = shown.run(STOPPED)
    assert told.startswith("Stopped. So far: " if at_it else "There is no way: all ")


STOPPED = """
const stop = document.getElementById('search-stop'), atIt = !stop.disabled;
stop.click();
return [atIt, document.getElementById('search-told').textContent];
"""
"""Stops a search before it can go on, or come to its end: whether it was at it, and what is said then."""


def begun(shown: Playing, target: str, conditions: str = "", most: int = 1_000_000) -> None:
    shown.run("document.getElementById('search').close(); showSearch()")
    chosen = f"const t = document.getElementById('target'); t.value = {json.dumps(target)}; t.onchange();"
    shown.run(f"{chosen} document.getElementById('conditions').value = {json.dumps(conditions)}")
    shown.run(f"document.getElementById('most').value = {most}")
    shown.click("#search-go")


def searched(shown: Playing, target: str, conditions: str = "", most: int = 1_000_000) -> str:
    """What is said in the end, without the count of states where the way was found."""
    begun(shown, target, conditions, most)
    shown.until("return document.getElementById('search-go').disabled === false")
    return str(shown.one("#search-told").get_attribute("textContent")).split(";")[0]


def test_a_walk_goes_on_and_one_key_takes_it_back(chromium: Any, lost: Path) -> None:
    shown = Playing(chromium, lost, "#step=0")
    shown.press("r")
    assert 1 <= len(shown.taken) <= 25
    assert shown.run("return recordings.length") == 2
    shown.press("u")
    assert shown.taken == UNFENCED
    assert shown.text("#step-title") == "Initial state"


def test_there_is_one_scrollbar(chromium: Any, lost: Path) -> None:
    shown = Playing(chromium, lost)
    assert shown.run("return document.documentElement.scrollHeight <= innerHeight")


def test_a_model_that_is_too_large_is_left_out(chromium: Any, pages: Path) -> None:
    recording = lost_entry()
    data = content([recording], largest=1000)
    assert (data["models"], data["traces"][0]["model"]) == ([], None)
    path = pages / "alone.html"
    path.write_text(page([recording], data=data), encoding="utf-8")
    shown = Playing(chromium, path)
    assert shown.one("#without").is_displayed()
    assert not shown.one("#playing").is_displayed()
    assert shown.text("#step-title") == "Step 13 of 13"
