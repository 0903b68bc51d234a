"""What the actions mirror is in the jars of the releases, or is declared not to be."""

from __future__ import annotations

import re
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.checks.conformance.java_side import mirrors
from fencepost.checks.conformance.java_side.classfiles import Classes, class_of
from fencepost.checks.conformance.java_side.jars import Release
from fencepost.checks.conformance.java_side.mirrors import Looked, look_up, mirrored, unused
from fencepost.model.releases import BOOKKEEPER, ONLY_IN, PULSAR, mirrored_in, numbers
from fencepost.properties.protocols import PROTOCOLS
from tests.checks.conformance.real import tools
from tests.command import fencepost

OLDEST, *NEWER = BOOKKEEPER

JAVA = """
package a.b;
public class Bookie {
  long wide = 0x123456789L; double two = 2.5; String text = "ü";
  interface Reads { void read(); default void closes() { } }
  static class Entry implements Reads {
    private int sum(int[] x) { return x[0]; }
    public void read() { Runnable r = () -> { }; }
  }
  static class Late extends Entry { void write() { } }
}
"""


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("classes")
    source = folder / "Bookie.java"
    source.write_text(JAVA, encoding="utf-8")
    subprocess.run([tools().javac, "-encoding", "UTF-8", "-d", folder, source], check=True)
    file = folder / "made.jar"
    with zipfile.ZipFile(file, "w") as archive:
        for each in sorted(folder.rglob("*.class")):
            archive.write(each, each.relative_to(folder))
    return file


def test_a_class_tells_its_methods_and_its_parents(jar: Path) -> None:
    with zipfile.ZipFile(jar) as archive:
        entry = class_of(archive.read("a/b/Bookie$Entry.class"))
    assert (entry.name, entry.parents) == ("a.b.Bookie$Entry", ("java.lang.Object", "a.b.Bookie$Reads"))
    assert {"sum", "read", "<init>"} <= set(entry.methods)
    assert (entry.source, entry.methods["sum"], entry.methods["read"]) == ("a/b/Bookie.java", 7, 8)
    assert "write" not in entry.methods


def test_a_method_may_be_inherited(jar: Path) -> None:
    with Classes([jar]) as classes:
        (late,) = classes.named("Bookie.Late")
        assert [method for method in ("write", "sum", "read", "closes", "add") if classes.has(late, method)] == [
            "write",
            "sum",
            "read",
            "closes",
        ]
        assert classes.named("Late") == []
        assert classes.named("Bookie.Reads") == ["a.b.Bookie$Reads"]


def test_what_is_no_class_is_refused() -> None:
    with pytest.raises(ValueError, match="no class file"):
        class_of(b"PK\3\4")


def test_a_method_is_declared_to_be_in_some_releases() -> None:
    assert mirrored_in("BookieImpl.addEntry", "bookkeeper").has == tuple(NEWER)
    assert mirrored_in("PendingAddOp.initiate", "bookkeeper").has == tuple(NEWER)
    assert mirrored_in("PendingAddOp.writeComplete", "bookkeeper").has == BOOKKEEPER
    assert mirrored_in("LeaderElectionImpl.elect", "pulsar").has == tuple(PULSAR)


def test_what_is_missing_or_against_its_declaration_is_told() -> None:
    looked = Looked("ledger", "bookkeeper", "PendingAddOp.initiate", ("send",), BOOKKEEPER, tuple(NEWER))
    assert (looked.missing, looked.unexpected) == ((), ())
    assert replace(looked, holders=tuple(NEWER[1:])).missing == (NEWER[0],)
    assert replace(looked, holders=BOOKKEEPER).unexpected == (OLDEST,)
    assert replace(looked, asked=(OLDEST,), holders=()).missing == ()
    new = replace(looked, asked=(*BOOKKEEPER, "4.19.0"), holders=tuple(NEWER))
    assert (new.missing, new.unexpected, new.unread) == ((), (), ("4.19.0",))
    assert replace(new, holders=(*NEWER, "4.19.0")).unread == ()


@pytest.mark.long
def test_the_bugs_of_a_protocol_mirror_something_too() -> None:
    methods = mirrored(PROTOCOLS["ledger"])
    assert methods["BookieImpl.fenceLedger"]
    assert methods["SyncThread.checkpoint"] == ("fail_to_save", "pass_over", "idle_checkpoint")
    assert methods["Journal.ForceWriteThread.syncJournal"] == ("journal_fence",)
    fixed = PROTOCOLS["ledger"].outline({}).protocol.mirrors
    assert not any("Journal.ForceWriteThread.syncJournal" in names for names in fixed.values())


def test_a_class_that_is_not_in_the_jars_is_missing(jar: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(release: Release, _: object) -> list[Path]:
        return [jar]

    monkeypatch.setattr(mirrors, "jars", without)
    answers = look_up([PROTOCOLS["bookie"]], tools(), [NEWER[-1]])
    assert {looked.method for looked in answers if looked.missing} == {looked.method for looked in answers}
    assert look_up([PROTOCOLS["bookie"]], tools(), ["4.2.4"])[0].asked == ()


@pytest.mark.long
def test_nothing_is_declared_that_no_action_mirrors() -> None:
    answers = [
        Looked(entry.name, entry.project, method, actions, (), ())
        for entry in PROTOCOLS.values()
        for method, actions in mirrored(entry).items()
    ]
    assert list(unused(answers)) == []
    assert list(unused(answers[:1])) != []
    assert ONLY_IN


@pytest.mark.java
def test_one_protocol_in_one_release() -> None:
    tools()
    ran = fencepost("conform", "mirrors", "election", "--release", "4.2.4", "--quiet")
    assert ran.returncode == 0, ran
    assert re.fullmatch(r"election: (\d+) methods of Pulsar are mirrored\n  4\.2\.4: \1 there\n", ran.stdout)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["elections"], "there is no protocol 'elections' (did you mean election?); there are bookie"),
        (["--release", "9"], "9 is not modelled; there are 2.10.1"),
    ],
)
def test_what_cannot_be_asked(arguments: list[str], message: str) -> None:
    ran = fencepost("conform", "mirrors", *arguments)
    assert (ran.returncode, len(ran.stderr.splitlines())) == (2, 1)
    assert message in ran.stderr


@pytest.mark.java
@pytest.mark.deep
def test_every_method_is_in_the_jars_of_every_release() -> None:
    tools()
    ran = fencepost("conform", "mirrors")
    assert ran.returncode == 0, ran
    releases = [len(numbers(entry.project)) for entry in PROTOCOLS.values()]
    assert ran.stdout.count(": ") == sum(1 + count for count in releases if count), "the whole has none of its own"
