"""Jars are fetched once, and only those that are pinned; what is kept is whole."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from fencepost.checks.conformance.java_side import jars as fetching
from fencepost.checks.conformance.java_side.cache import ensure_folder, user_cache
from fencepost.checks.conformance.java_side.jars import Artifact, Release, jars
from fencepost.checks.conformance.java_side.toolchain import Toolchain, ToolchainError
from tests.checks.conformance import real

RELEASE = Release("boxes", "1.0", (Artifact("org.example:boxes:1.0", ("org.example:lids",)),), ("org.example:bom:1.0",))


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toolchain:
    """A Maven that fetches two jars, and notes each time that it is called."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(fetching, "PINS", tmp_path)
    mvn = tmp_path / "mvn"
    mvn.write_text(
        f"#!/bin/sh\necho called >> {tmp_path}/calls\n"
        'for a; do case "$a" in -DoutputDirectory=*) out=${a#*=};; esac; done\n'
        'printf one > "$out/boxes-1.0.jar"; printf two > "$out/needed-2.jar"\n',
        encoding="utf-8",
    )
    mvn.chmod(0o755)
    return Toolchain(tmp_path / "java", tmp_path / "javac", mvn, 17)


def pin(tmp_path: Path, **contents: bytes) -> None:
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}-1.0.jar\n" for name, data in contents.items()]
    (tmp_path / "boxes-1.0.sha256").write_text("".join(lines), encoding="utf-8")


def test_a_class_path_is_fetched_once(tools: Toolchain, tmp_path: Path) -> None:
    assert [jar.name for jar in jars(RELEASE, tools)] == ["boxes-1.0.jar", "needed-2.jar"]
    assert [jar.name for jar in jars(RELEASE, tools)] == ["boxes-1.0.jar", "needed-2.jar"]
    assert (tmp_path / "calls").read_text() == "called\n"


def test_the_pom_names_what_is_wanted() -> None:
    pom = RELEASE.pom()
    assert "<artifactId>boxes</artifactId><version>1.0</version><exclusions><exclusion><groupId>org.example</groupId>" in pom
    assert "<artifactId>bom</artifactId><version>1.0</version><type>pom</type><scope>import</scope>" in pom


def test_what_does_not_resolve_is_put_in_the_place_of_what_does(tools: Toolchain, tmp_path: Path) -> None:
    settled, replaced = ("org.example:boxes:0.9", "org.example:needed:2"), ("org.example:boxes:1.0", "org.example:absent:1.0")
    release = Release("boxes", "1.0", RELEASE.artifacts, settled=(*settled, "org.example:absent:0.9"), replaced=replaced)
    assert (
        "<dependencies><dependency><groupId>org.example</groupId><artifactId>boxes</artifactId><version>0.9</version>"
        in (release.pom().partition("</dependencyManagement>")[2])
    )
    tools.mvn.write_text(
        f'#!/bin/sh\nfor a; do case "$a" in -DoutputDirectory=*) out=${{a#*=}};; *copy) goal=alone;; esac; done\n'
        f'cat "$out/pom.xml" >> {tmp_path}/poms\n'
        'if [ "$goal" ]; then printf new > "$out/boxes-1.0.jar"\n'
        'else printf old > "$out/boxes-0.9.jar"; printf two > "$out/boxes-more-0.9.jar"; fi\n',
        encoding="utf-8",
    )
    pin(tmp_path, boxes=b"new")
    assert [jar.name for jar in jars(release, tools)] == ["boxes-1.0.jar", "boxes-more-0.9.jar"]
    copied = (tmp_path / "poms").read_text().splitlines()[1]
    assert "<artifactItem>" in copied
    assert "absent" not in copied


def test_the_artifacts_are_pinned_and_what_they_need_is_not(tools: Toolchain, tmp_path: Path) -> None:
    assert not RELEASE.pinned
    pin(tmp_path, boxes=b"one", of_another_class_path=b"three")
    assert RELEASE.pinned
    assert len(jars(RELEASE, tools)) == 2


def test_a_file_of_pins_serves_each_class_path_of_the_release(tools: Toolchain, tmp_path: Path) -> None:
    pin(tmp_path, boxes=b"one")
    assert Release("boxes-servers", "1.0", RELEASE.artifacts).pinned
    assert not Release("boxes", "1.1", RELEASE.artifacts).pinned


@pytest.mark.parametrize(
    ("artifact", "pinned", "message"),
    [
        ("boxes", {"boxes": b"else"}, r"boxes-1.0.jar is not the jar that is pinned"),
        ("lids", {"lids": b"three"}, r"lids-1.0.jar is pinned, and Maven did not fetch it"),
    ],
)
def test_other_jars_are_refused_and_not_kept(
    tools: Toolchain, tmp_path: Path, artifact: str, pinned: dict[str, bytes], message: str
) -> None:
    pin(tmp_path, **pinned)
    with pytest.raises(ToolchainError, match=message):
        jars(Release("boxes", "1.0", (Artifact(f"org.example:{artifact}:1.0"),)), tools)
    assert list((tmp_path / "cache" / "fencepost" / "jars").iterdir()) == []


def test_a_maven_that_fails_is_told_of(tools: Toolchain) -> None:
    tools.mvn.write_text("#!/bin/sh\necho '[ERROR] no such artifact'; exit 1\n", encoding="utf-8")
    with pytest.raises(ToolchainError, match=r"cannot fetch the jars of boxes 1.0: no such artifact"):
        jars(RELEASE, tools)


MISSING = "Could not find artifact org.example:{}:jar:1.0 in central (https://repo/maven2)"


@pytest.mark.parametrize(("artifact", "asks"), [("boxes", True), ("needed", False)])
def test_whether_there_is_such_a_release_is_asked_where_maven_says_so(tools: Toolchain, artifact: str, asks: bool) -> None:
    tools.mvn.write_text(f"#!/bin/sh\necho '[ERROR] {MISSING.format(artifact)}'; exit 1\n", encoding="utf-8")
    with pytest.raises(ToolchainError, match="Could not find artifact") as error:
        jars(RELEASE, tools)
    assert ("is there such a release?" in str(error.value)) == asks


def test_a_build_that_was_made_again_is_read_again(tools: Toolchain, tmp_path: Path) -> None:
    build = Release("bookkeeper", "4.18.99-local", (Artifact("org.example:boxes:1.0"),))
    first, again = jars(build, tools), jars(build, tools)
    assert first == again
    tools.mvn.write_text(tools.mvn.read_text().replace("printf one", "printf other"), encoding="utf-8")
    assert jars(build, tools)[0] != first[0]
    assert jars(build, tools)[0].read_bytes() == b"other"
    assert first[0].read_bytes() == b"one"
    assert (tmp_path / "calls").read_text() == 4 * "called\n"


def test_the_cache_is_the_users(tmp_path: Path) -> None:
    assert user_cache({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "fencepost"
    assert user_cache({}) == Path.home() / ".cache" / "fencepost"
    assert user_cache({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache" / "fencepost"


def test_a_folder_is_whole_or_not_there(tmp_path: Path) -> None:
    def fails(folder: Path) -> None:
        (folder / "half").touch()
        raise ToolchainError("half of it")

    def works(folder: Path) -> None:
        (folder / "whole").touch()

    with pytest.raises(ToolchainError, match="half"):
        ensure_folder(tmp_path / "kept" / "x", fails)
    assert list((tmp_path / "kept").iterdir()) == []
    assert [p.name for p in ensure_folder(tmp_path / "kept" / "x", works).iterdir()] == ["whole"]
    assert [p.name for p in ensure_folder(tmp_path / "kept" / "x", fails).iterdir()] == ["whole"]


def test_of_two_that_make_a_folder_the_first_wins(tmp_path: Path) -> None:
    def slower(folder: Path) -> None:
        (folder / "mine").touch()
        ensure_folder(tmp_path / "x", lambda other: (other / "theirs").touch())

    assert [p.name for p in ensure_folder(tmp_path / "x", slower).iterdir()] == ["theirs"]
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("why", ["Unknown host repo.maven.apache.org: Temporary failure in name resolution", "no such release"])
def test_without_a_network_a_test_on_real_code_is_skipped(tools: Toolchain, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(fetching, "_fetched", real.skipping_offline)
    tools.mvn.write_text(f"#!/bin/sh\necho '[ERROR] Could not resolve dependencies: {why}'\nexit 1\n", encoding="utf-8")
    if "Unknown host" in why:
        with pytest.raises(pytest.skip.Exception, match="Unknown host"):
            jars(RELEASE, tools)
        monkeypatch.setenv("CI", "yes")
    with pytest.raises(ToolchainError, match="cannot fetch the jars of boxes"):
        jars(RELEASE, tools)
