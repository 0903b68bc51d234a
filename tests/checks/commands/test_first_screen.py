"""The first screen of a check of a cluster, the ways by their numbers, and what does not happen here."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.commands.check.run import run
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.ahead import NO_TIME
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.questions.answers.remedies import Remedy
from fencepost.checks.questions.answers.ways import EVENTS, Answer, Way, acts_in, events_in, in_order, never
from fencepost.checks.questions.matters import MATTERS
from fencepost.checks.reports.answers import in_short, meanings
from fencepost.checks.reports.decisions import IN_SHORT
from fencepost.checks.reports.front import fewest_of, front, table, verdict
from fencepost.checks.reports.guarantees import Opening
from fencepost.checks.reports.in_short import last_line
from fencepost.checks.reports.ways import listed
from fencepost.model.releases import Releases
from fencepost.properties.bugs import Bug
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import RegistryError
from tests.command import Ran, fencepost, in_a_process

OLD = ("--pulsar", "4.2.4")
"""A release of which something can be changed."""
STOCK = "managedLedgerDefaultEnsembleSize=2\nmanagedLedgerDefaultWriteQuorum=2\nmanagedLedgerDefaultAckQuorum=2\n"


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    conf = tmp_path_factory.mktemp("first") / "broker.conf"
    conf.write_text(STOCK)
    return conf


@pytest.fixture(scope="module")
def whole(stock: Path) -> Ran:
    """The run as a whole."""
    return in_a_process("check", "--conf", stock, *OLD, "--quiet", COLUMNS="80")


@pytest.mark.long
@pytest.mark.xdist_group("first screen")
def test_the_first_screen_fits_and_says_what_to_change(stock: Path, whole: Ran) -> None:
    assert whole.returncode == 14
    first, second = whole.stdout.split("\n\n", 1)
    lines = first.splitlines()
    assert len(lines) <= 24
    assert all(len(line) <= 80 for line in whole.stdout.splitlines())
    assert " ".join(lines[:2]).startswith(f"{stock}: Pulsar ")
    assert "3 bookies (assumed)" in first
    assert re.search(r"^MESSAGES CAN BE LOST: \d+ ways; \d+ need", first, re.MULTILINE)
    assert re.search(r"^  1 brokerDeleteInactiveTopicsEnabled=false", first, re.MULTILINE)
    assert re.search(r"^  2 bookies on BookKeeper \S+", first, re.MULTILINE)
    assert re.search(r"^    after 1 and 2, \d+ ways? ", first, re.MULTILINE)
    assert "only if a topic is terminated" in first
    assert "NOT JUDGED: " in first
    assert " ..." not in first.partition("What has to happen")[0], "no remedy is cut off"
    last = whole.stdout.splitlines()[-1]
    assert re.fullmatch(r"MESSAGES CAN BE LOST: \d+ ways; a known bug affects you \(exit 14\)", last)
    shown = [int(number) for number in re.findall(r"^ {0,2}(\d+)  ", second, re.MULTILINE)]
    assert shown == sorted(set(shown))
    assert 1 in shown
    assert len(second.splitlines()) <= 30
    assert " ..." not in second, "no way is cut off"


@pytest.mark.long
def test_what_can_never_come_about_is_on_the_first_screen(stock: Path, tmp_path: Path) -> None:
    bookie = tmp_path / "bookkeeper.conf"
    bookie.write_text("bookiePort=3181\n")
    short = ("--conf", stock, "--conf", bookie, "--bookies", "2", "--quiet")
    first = " ".join(fencepost("check", *short).stdout.split("\n\n")[0].split())
    never = "A ledger never becomes whole again when a bookie stays away: no other bookie is there to take its place; add one"
    assert never in first
    assert "(so too decommissioned, emptied: --all)" in first


@pytest.mark.long
@pytest.mark.xdist_group("first screen")
def test_one_way_is_told_as_a_story(stock: Path, whole: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    for seconds in ("SILENT_SECONDS", "SELDOM_SECONDS"):
        monkeypatch.setattr(f"fencepost.checks.console.progress.{seconds}", 0.0)
    run = fencepost("check", "--conf", stock, *OLD, "--way", "1")
    assert (run.returncode, run.stdout.splitlines()[-1]) == (whole.returncode, whole.stdout.splitlines()[-1])
    assert run.returncode == ExitStatus.KNOWN_BUG
    assert "Way 1: " in run.stdout
    assert "The ways (" not in run.stdout
    shares = [int(share) for share in re.findall(r"^# \d+ of \d+ questions \((\d+)%\); ", run.stderr, re.MULTILINE)]
    assert shares == sorted(shares)
    assert 0 <= shares[0] < shares[-1] <= 100
    assert "What happens, step by step" in run.stdout
    first = next(each for each in whole.stdout.splitlines() if each.startswith("  1  "))
    assert f"Way 1: {first.removeprefix('  1  ')}" in run.stdout, "it has the number that the whole run gives it"
    assert re.search(r"^What to do  (bookies on BookKeeper|brokerDelete)", run.stdout, re.MULTILINE), "found by searching"
    assert "fencepost check cluster --bug " in " ".join(run.stdout.split())
    none = fencepost("check", "--conf", stock, *OLD, "--quiet", "--way", "99")
    assert none.returncode == 2
    assert re.search(r"there is no way 99: this cluster has \d+ ways", none.stderr)


@pytest.mark.parametrize(
    "budget", [1e-3, pytest.param(None, marks=[pytest.mark.long, pytest.mark.xdist_group("first screen")])]
)
def test_progress_comes_to_all_of_it(budget: float | None, stock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = list[tuple[str, int, int]]()

    class Counted(Reporter):
        def passed(self) -> None:
            super().passed()
            assert self._parts is not None
            shown.append((self._parts.what, self._parts.done, self._parts.count))

        def left(self, count: int) -> None:
            super().left(count + 1)
            self.passed()

    monkeypatch.setattr("fencepost.checks.commands.check.run.Reporter", Counted)
    run(CheckRequest(conf=[stock], pulsar="5.0.1", budget=budget, quiet=True))
    for what in ("question", *(() if budget else ("instance",))):
        every = [(done, count) for kind, done, count in shown if kind == what]
        assert every == sorted(every)
        assert [count for _, count in every] == [every[0][1]] * len(every)
        assert every[-1][0] == every[-1][1]


@pytest.mark.long
@pytest.mark.xdist_group("first screen")
def test_what_does_not_happen_here_leaves_the_count(stock: Path) -> None:
    run = fencepost("check", "--conf", stock, *OLD, "--quiet", "--never", "termination,session-loss")
    first = " ".join(run.stdout.split("\n\n", 1)[0].split())
    assert "only if a topic is terminated" not in first
    assert "left out, since it does not happen here (--never)" in first
    assert "need only a lost session" not in first


def test_what_is_not_known_of_a_way_is_no_number_of_faults() -> None:
    way = Way("a", "what", ("a lost session of a broker",), 2, None, None)  # type: ignore[arg-type]
    half = replace(way, name="b", faults=1, open="out of memory")
    assert fewest_of([half, way]) == (2, [way])
    assert fewest_of([half]) == (1, [half])


def test_an_event_that_there_is_not_is_refused_with_what_is_meant(stock: Path) -> None:
    run = fencepost("check", "--conf", stock, "--never", "terminaton")
    assert run.returncode == 2
    assert "there is no event 'terminaton' (did you mean termination?)" in run.stderr
    with pytest.raises(RegistryError, match="list --events` has the names"):
        never(["x"])


def test_acts_of_an_administrator_stand_last_and_count_for_nothing() -> None:
    way = Way("a", "what", ("a lost session of a broker",), 1, None, None)  # type: ignore[arg-type]
    act = replace(way, name="b", needs=("a ledger closed for its age", "a termination of the topic"), faults=0)
    ordered = in_order([act, way], ())
    assert (ordered.count, ordered.only_if, ordered.never) == ((way,), (act,), ())
    assert acts_in(act) == ("termination",)
    assert in_order([act, way], {"rollover"}).never == (act,)


UNNAMED = {
    *("a bundle that is disabled", "an explicit last add confirmed", "a deletion that meets the next owner's node"),
    *("a bookie that is named without a copy, or twice", "a look of a bookie's garbage collector at an entry log"),
    *("an update of the list of ledgers that takes two minutes", "an end of a ledger that cannot be looked up"),
}
"""Events that nobody can say never happen."""


@pytest.mark.parametrize("protocol", ["ledger", "bookie", "topic", "subscription", "cluster", "ownership"])
def test_events_of_ways_can_be_named(protocol: str) -> None:
    way = Way("a", "what", (), 1, None, None)  # type: ignore[arg-type]
    events = PROTOCOLS[protocol].in_cluster.events.values()
    assert {words for words in events if not events_in(replace(way, needs=(words,)))} <= UNNAMED


def test_every_event_can_be_listed() -> None:
    assert [line.split()[0] for line in fencepost("list", "--events").stdout.splitlines()] == [*EVENTS]


@pytest.mark.deep  # both search for a minute or two
@pytest.mark.parametrize("conf", ["tests/checks/commands/charts/values.yaml", "docs/examples/broker.conf"])
def test_the_first_screen_is_one_screen(conf: str) -> None:
    run = in_a_process("check", "--conf", conf, "--quiet", COLUMNS="80")
    first = run.stdout.split("\n\n", 1)[0].splitlines()
    assert first[0].startswith(f"{conf}: Pulsar "[:80].rstrip())
    assert len(first) <= 24
    assert all(len(line) <= 80 for line in first)


def test_rows_take_one_line_each_where_a_screen_would_not_hold_them() -> None:
    says = "bookkeeper shell autorecovery -disable, and a wait for the tasks under way, before recover; or decommissionbookie"
    two, one = (list(table("Change first", "closes", [("  1 ", says, "1 way, brings 1")], 80, most)) for most in (2, 1))
    assert (len(two), len(one)) == (3, 2)
    assert one[1].endswith("1 way, brings 1")
    assert " ... " in one[1]
    assert all(len(line) <= 80 for line in (*two, *one))


def opening(*ways: Way, unordered: str = "yes") -> Opening:
    """With answers to two questions: the first has these ways, the second the same bugs again."""
    lost, twice = (Answer(MATTERS[n], ways, (), ("a: out of time",) if unordered == "unknown" else (), {}) for n in (0, 3))
    cluster: Any = None  # the words are not of it
    return Opening(cluster, answers=(lost, replace(twice, first=1 + len(ways))))


def by_bug(name: str, faults: int, *needs: str) -> Way:
    run: Any = None  # the words are not of the run
    bug = Bug(plain=f"{name} loses a message.")
    return Way(name, name, needs or ("a lost session of a broker",), faults, run, run, bug)


def test_every_report_tells_a_way_as_people_say_it() -> None:
    way = replace(by_bug("a", 1), what="pulsar#1: two descriptors of one ledger")
    assert in_short(way) == "A loses a message. Needs a lost session of a broker."
    assert in_short(replace(way, needs=(), bug=None)) == "Two descriptors of one ledger. Needs nothing else."
    half = in_short(replace(way, open="out of memory"))
    assert half.endswith("Needs a lost session of a broker, and it is not known what else: out of memory.")


def test_a_step_is_told_in_whole_sentences() -> None:
    told = meanings(PROTOCOLS["topic"].outline({}).protocol)
    assert [text for text in told.values() if "\n" in text or not text.endswith((".", ")"))] == []


def test_each_bug_is_told_once_and_what_needs_most_gives_way() -> None:
    ways = [by_bug("a", 1), by_bug("b", 2), by_bug("c", 3), by_bug("d", 0, "a termination of the topic")]
    numbers = re.compile(r"^ {0,2}(\d+)  ", re.MULTILINE)
    assert numbers.findall("\n".join(listed(opening(*ways), 80, 30))) == ["1", "2", "3", "4"]
    assert numbers.findall("\n".join(listed(opening(*ways), 80, 5))) == ["1", "2"]
    rest = "     3, 4, 7, 8: more faults, less harm, or an act of yours (--all)"
    assert listed(opening(*ways), 80, 5)[-2:] == [rest, "     5, 6: by a bug that has its line above"]
    assert listed(opening(*ways), 80, 30)[-1] == "     5 to 8: by a bug that has its line above"
    assert listed(opening(), 80, 4) == []


def test_ways_that_cost_little_give_way_first() -> None:
    lost, again = by_bug("a", 2), by_bug("b", 0, "an unload of the bundle")
    minor = next(matter for matter in MATTERS if matter.minor)
    answers = (Answer(MATTERS[0], (lost,), (), (), {}), Answer(minor, (again,), (), (), {}, first=2))
    both = replace(opening(), answers=answers)
    assert [line[:5] for line in listed(both, 80, 30)] == ["  An ", "  1  ", "  Mes", "  2  "]
    assert [line[:6] for line in listed(both, 80, 3)] == ["  An a", "  1  A", "     2"]


@pytest.mark.parametrize(
    ("faults", "first", "left"),
    [
        ((0, 0, 1), "2 need no fault", "after 1, 3 ways are left, 2 of which need no fault"),
        ((0,), "1 way, which needs only a", "after 1, 1 way is left, which needs no fault"),
        ((1, 1, 2), "2 need only one fault", "after 1, 3 ways are left, which need at least one fault"),
        ((2, 3), "1 needs only a", "after 1, 2 ways are left, which need at least two faults"),
    ],
)
def test_how_many_faults_is_said_in_plain_english(faults: tuple[int, ...], first: str, left: str) -> None:
    ways = [by_bug(f"bug{n}", number, *"abc"[n]) for n, number in enumerate(faults)]
    asked = opening(*ways)
    remedy = Remedy("setting", "a=b", {"a": "b"}, Releases.of("4.2.4"))
    asked = replace(asked, change_first=(remedy,), after=asked.answers[0])
    assert verdict(asked).endswith(f" {first}.")
    rows: Any = SimpleNamespace(rows=())
    assert f"    {left}\n" in front(replace(asked, now=rows), 80)


def test_a_remedy_that_is_named_by_its_number_has_its_row() -> None:
    names = "abcde"
    remedies = [Remedy("setting", f"{n}=b", {n: "b"}, Releases.of("4.2.4"), closes=frozenset({n})) for n in names]
    rows: Any = SimpleNamespace(rows=())
    asked = replace(opening(*(by_bug(n, 1) for n in names)), now=rows, change_first=tuple(remedies))
    screen = front(asked, 80)
    assert re.search(r" a lost session of a broker +5  1, 2, 3, 4, 5$", screen, re.MULTILINE)
    assert re.findall(r"^  (\d) (.=b) +1 way$", screen, re.MULTILINE) == [(str(n), f"{c}=b") for n, c in enumerate(names, 1)]


def test_kills_are_told_once() -> None:
    event = "{n} kill{s} of a broker"
    names = {"broker_crashes": (2, event), "backlog": (1, event), "disks": (1, "{n} lost disk{s}")}

    def told(*left: str) -> str:
        guarantees = {
            name: SimpleNamespace(name=name, event=words, never="", counted=lambda n, words=words: words.format(n=n, s=""))
            for name, (_, words) in names.items()
            if name not in left
        }
        rows = [SimpleNamespace(guarantee=each, figure=names[name][0], limit=None) for name, each in guarantees.items()]
        now: Any = SimpleNamespace(rows=rows)
        return front(replace(opening(by_bug("a", 1)), now=now), 80)

    assert "A killed broker (OOM) alone loses nothing (2 kills searched).\n" in told()
    assert "\nSurvives: 1 lost disk\n" in told(), (
        "one kill, which the backlog was searched with, reads as if it were another answer"
    )
    assert "\nSurvives: 1 kill of a broker, 1 lost disk\n" in told("broker_crashes")


def test_remedies_that_there_was_no_time_for_are_not_said_to_be_none() -> None:
    rows: Any = SimpleNamespace(rows=())
    whole = replace(opening(by_bug("a", 1)), now=rows)
    assert "Change first" not in front(whole, 80)
    assert re.search(r" a lost session of a broker +1  none known$", front(whole, 80), re.MULTILINE)
    cut_short = front(replace(whole, cut_short=NO_TIME), 80)
    assert "\nChange first: not known, there was no time to look at what may help\n" in cut_short
    assert re.search(r" a lost session of a broker +1  not known$", cut_short, re.MULTILINE)


@pytest.mark.parametrize("status", ExitStatus)
def test_the_last_line_fits_whatever_the_verdict(status: ExitStatus) -> None:
    if status in IN_SHORT:
        many = [by_bug(str(n), 1) for n in range(99)]
        acts = [by_bug(str(n), 1, "a termination of the topic") for n in range(99)]
        for each in (opening(*many), opening(*acts), opening(), opening(unordered="unknown")):
            accepted: Any = SimpleNamespace(verdicts=[SimpleNamespace(accepted="known")])
            run: Any = SimpleNamespace(
                opening=each, status=status, everything=[], comparison=None, is_outdated=False, alone=False
            )
            longest: Any = SimpleNamespace(**{**vars(run), "everything": [accepted]})
            assert len(last_line(longest)) <= 80
            assert f"(exit {int(status)})" in last_line(run)


def test_a_known_bug_does_not_hide_in_the_last_line_that_less_is_guaranteed() -> None:
    conf: Any = SimpleNamespace(cluster=None, rows=(SimpleNamespace(),))

    def closed(kind: Any, *, alone: bool) -> str:
        fell: Any = SimpleNamespace(kind=kind, decides=True, row=conf.rows[0])
        asked = replace(opening(by_bug("a", 1)), now=conf, shortfalls=(fell,))
        whole: Any = replace(asked, answers=()) if alone else asked
        run: Any = SimpleNamespace(
            opening=whole, status=ExitStatus.KNOWN_BUG, everything=[], comparison=None, is_outdated=False, alone=alone
        )
        return last_line(run)

    assert closed("weaker", alone=True) == (
        "1 guarantee, 1 short: weaker than before and a known bug comes that affects you (exit 14)"
    )
    assert closed("short", alone=True) == (
        "1 guarantee, 1 short: less than is required and a known bug comes that affects you (exit 14)"
    )
    assert closed("short", alone=False) == "MESSAGES CAN BE LOST: 1 way; less than required; a known bug (exit 14)"


LONGEST = 75
"""Characters of a sentence that stands beside its number on one line of a screen."""


def test_every_bug_of_a_release_has_a_sentence_for_whoever_is_woken_by_it() -> None:
    entries = [entry for name, entry in PROTOCOLS.items() if entry.project != "kafka" and not entry.of_parts]
    bugs = {name: bug for entry in entries for name, bug in entry.bugs.items() if bug.present and not bug.weakening}
    said = {name: {e.bugs[name].plain for e in entries if name in e.bugs} for name in bugs}
    assert [name for name, plain in said.items() if plain == {""}] == []
    assert [name for name, bug in bugs.items() if bug.plain and not bug.plain.endswith(".")] == []
    assert [name for name, bug in bugs.items() if len(bug.plain) > LONGEST] == [], "a screen has one line for it"
