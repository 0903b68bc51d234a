"""A build of one's own takes the place of what it is, and one that would change nothing is refused."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from fencepost.checks.conformance.java_side.own_build import OwnBuild
from fencepost.checks.conformance.java_side.toolchain import ToolchainError
from tests.command import fencepost

SERVER = "org/apache/bookkeeper/bookie/BookieImpl"


def code(name: str, more: bytes = b"") -> bytes:
    """A class of that name without a member."""
    texts = b"".join(struct.pack(">BH", 1, len(text)) + text for text in (name.encode(), b"java/lang/Object"))
    constants = struct.pack(">H", 5) + texts + struct.pack(">BHBH", 7, 1, 7, 2)
    return struct.pack(">IHH", 0xCAFEBABE, 0, 61) + constants + struct.pack(">HHHHHHH", 0, 3, 4, 0, 0, 0, 0) + more


def jar(file: Path, *names: str) -> Path:
    file.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(file, "w") as written:
        for name in names:
            written.writestr(f"{name}.class", code(name))
    return file.resolve()


def classes(folder: Path, name: str = SERVER) -> Path:
    file = folder / f"{name}.class"
    file.parent.mkdir(parents=True)
    file.write_bytes(code(name))
    return folder.resolve()


@pytest.fixture
def path(tmp_path: Path) -> list[Path]:
    """The class path of a release."""
    server = jar(tmp_path / "released" / "bookkeeper-server-4.18.0.jar", SERVER)
    extras = jar(tmp_path / "released" / "bookkeeper-server-extras-4.18.0.jar", "a/B")
    return [server, extras, jar(tmp_path / "released" / "z-1.jar")]


NAMES = ("bookkeeper-server-4.18.1-SNAPSHOT", "org.apache.bookkeeper-bookkeeper-server-4.18.1", "bookkeeper-server")


@pytest.mark.parametrize("name", NAMES)
def test_a_jar_takes_the_place_of_its_artifact(tmp_path: Path, path: list[Path], name: str) -> None:
    mine = jar(tmp_path / "target" / f"{name}.jar", SERVER)
    for besides in ("-sources", "-tests"):
        jar(tmp_path / "target" / f"{name}{besides}.jar", "x/Y")
    assert OwnBuild(tmp_path / "target").over(path, "this") == [mine, *path[1:]]


def test_a_jar_does_not_take_the_place_of_what_is_kept(tmp_path: Path, path: list[Path]) -> None:
    mine, other = (jar(tmp_path / "target" / f"{name}.jar", SERVER) for name in ("bookkeeper-server-9", "z-0.9"))
    assert OwnBuild(tmp_path / "target").over(path, "this", ("z",)) == [mine, *path[1:]]
    assert OwnBuild(tmp_path / "target").over(path, "this") == [mine, other, path[1]]
    with pytest.raises(ToolchainError, match=r"no jar of .*target takes the place of one of this"):
        OwnBuild(tmp_path / "target").over(path, "this", ("z", "bookkeeper-server"))


def test_classes_come_first(tmp_path: Path, path: list[Path]) -> None:
    mine, folder = jar(tmp_path / "target" / "bookkeeper-server-9.jar", SERVER), classes(tmp_path / "classes")
    assert OwnBuild(tmp_path / "target", (folder,)).over(path, "this") == [folder, mine, *path[1:]]
    assert OwnBuild(None, (folder,)).over(path, "this") == [folder, *path]
    assert OwnBuild().over(path, "this") == path


def test_what_would_change_nothing_is_refused(tmp_path: Path, path: list[Path]) -> None:
    jar(tmp_path / "target" / "pulsar-broker-9.jar", "x/Y")
    (tmp_path / "empty").mkdir()
    for build, message in (
        (OwnBuild(tmp_path / "target"), "no jar of .*target takes the place of one of bookkeeper 4.18.0"),
        (OwnBuild(tmp_path / "empty"), "there is no jar in it"),
        (OwnBuild(None, (tmp_path / "empty",)), "there is no class in it; compile with javac -d"),
        (OwnBuild(None, (classes(tmp_path / "other", "a/Elsewhere"),)), "no class of .*other is one of bookkeeper 4.18.0"),
        (OwnBuild(None, (classes(tmp_path / "deep") / "org",)), "BookieImpl.class is org/.*: give the folder above org/"),
    ):
        with pytest.raises(ToolchainError, match=message) as error:
            build.over(path, "bookkeeper 4.18.0")
        assert "\n" not in str(error.value)


def test_a_build_that_was_made_again_is_another(tmp_path: Path) -> None:
    folder = classes(tmp_path / "classes")
    build = OwnBuild(None, (folder,))
    before = build.digest()
    assert build.digest() == before
    (folder / f"{SERVER}.class").write_bytes(code(SERVER, b"more"))
    assert build.digest() != before


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("conform bookie --without x", "of 4.18.0 the model of bookie has no bug 'x' to leave out; there are idle_"),
        ("conform bookie --as 4.17.3 --without x", "of 4.17.3 the model of bookie has no bug 'x'"),
        ("conform bookie --as 3.2", "BookKeeper 3.2 is not modelled"),
        ("reproduce --classes build", "--release, --jars, --classes, --odds and --keep need the NAME of a finding"),
    ],
)
def test_wrong_usage_is_told_in_a_line(command: str, message: str) -> None:
    ran = fencepost(*command.split())
    assert ran.returncode == 2
    assert message in ran.stderr.splitlines()[-1]
