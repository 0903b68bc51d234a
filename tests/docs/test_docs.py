"""The documentation tells the truth: its commands print what it shows, its links lead somewhere, its tables are measured."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent

import pytest
from _pytest.mark import ParameterSet

from fencepost.checks.commands.arguments import COMMANDS
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.model.language.domains import Choice
from fencepost.model.zookeeper.sessions_and_nodes import EphemeralNode
from fencepost.properties.protocols import PROTOCOLS
from tests.checks.conformance.real import tools
from tests.docs import stores_table
from tests.docs.examples import (
    DOCUMENTS,
    ROOT,
    Block,
    Played,
    Session,
    blocks,
    exchanges,
    matches,
    misplaced,
    played,
    refreshed,
)
from tests.docs.tables import marked, with_options
from tests.properties.names import LARGE, names_of

BY_DEFAULT = ("README.md", "docs/tutorial.md", "docs/how-to/check-a-release.md", "docs/how-to/read-a-protocol.md")
"""The documents whose examples are run in the first step."""

REFERENCE = ROOT / "docs" / "reference"
PAGES = {name: page for name in PROTOCOLS if (page := REFERENCE / f"{name}.md").exists()}


def _name(document: Path) -> str:
    return document.relative_to(ROOT).as_posix()


def _check(document: Path, folder: Path, *, deep: bool, later: bool = True) -> None:
    if _needs_java(document):
        tools()
    for block, commands in played(document.read_text(encoding="utf-8"), Session(folder), deep=deep, later=later):
        for command in commands:
            place = f"{_name(document)}:{block.line}: {command.shown.command}"
            assert matches(command.shown.output, command.printed), "\n".join([place, "prints", *command.printed])
        assert misplaced(block, commands) is None, _name(document)


def _needs_java(document: Path) -> bool:
    """Whether an example runs a release's own classes; logs are explained, and findings listed, without."""
    text = document.read_text(encoding="utf-8")
    return re.search(r"^\$ fencepost (conform (?!log )|reproduce \w)", text, re.MULTILINE) is not None


def _walks(document: Path, *, deep: bool) -> bool:
    """Whether an example, deep or not, starts Spark."""
    walk = re.compile(r"^\$ fencepost (?:ingest |explore (?!report|trace)(?!.*--exhaustive))", re.MULTILINE)
    return any(block.is_deep == deep and walk.search(block.text) for block in blocks(document.read_text(encoding="utf-8")))


def _with_examples(*, deep: bool) -> list[ParameterSet]:
    """The documents that have examples, deep or not, with what a test of them needs."""
    documents = [document for document in DOCUMENTS if _has(document, deep=deep)]
    return [
        pytest.param(
            document,
            id=_name(document),
            marks=[
                pytest.mark.documents,
                *([pytest.mark.java] if _needs_java(document) else []),
                *([pytest.mark.spark] if _walks(document, deep=deep) else []),
                *([pytest.mark.smoke] if _name(document) in BY_DEFAULT and not _has_later(document) else []),
            ],
        )
        for document in documents
    ]


def _has(document: Path, *, deep: bool) -> bool:
    return any(block.is_deep == deep for block in blocks(document.read_text(encoding="utf-8")))


def _has_later(document: Path) -> bool:
    return any(block.is_later for block in blocks(document.read_text(encoding="utf-8")))


@pytest.mark.documents
@pytest.mark.smoke
@pytest.mark.parametrize("name", [name for name in BY_DEFAULT if _has_later(ROOT / name)])
def test_quick_examples_do_what_is_shown(name: str, tmp_path: Path) -> None:
    """The others of the document, and these with them, are run in the second step."""
    _check(ROOT / name, tmp_path, deep=False, later=False)


@pytest.mark.parametrize("document", _with_examples(deep=False))
def test_examples_do_what_is_shown(document: Path, tmp_path: Path) -> None:
    _check(document, tmp_path, deep=False)


@pytest.mark.deep
@pytest.mark.parametrize("document", _with_examples(deep=True))
def test_long_examples_do_what_is_shown(document: Path, tmp_path: Path) -> None:
    _check(document, tmp_path, deep=True)


def _is_passage(text: str, source: str) -> bool:
    """Whether the lines stand in the source one after the other, however deep they are indented there.

    Ruff leaves two empty lines around what is outermost, which a passage has out of a function, where there is one.
    """
    text, source = text.replace("\n\n\n", "\n\n"), source.replace("\n\n\n", "\n\n")
    return any(f"\n{indent(text, ' ' * depth)}" in source for depth in (0, 4, 8, 12))


def test_passages_are_in_the_source() -> None:
    passages = [(d, b) for d in DOCUMENTS for b in blocks(d.read_text(encoding="utf-8")) if b.source is not None]
    assert passages
    stale = [
        f"{_name(document)}:{block.line}"
        for document, block in passages
        if not _is_passage(block.text, (ROOT / str(block.source)).read_text(encoding="utf-8"))
    ]
    assert stale == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=_name)
def test_links_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        assert file.exists(), target
        if anchor:
            assert anchor in _anchors(file.read_text(encoding="utf-8")), target


def _anchors(text: str) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ +(.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_stores_have_every_bug_of_the_control_plane() -> None:
    page = (ROOT / "docs" / "reference" / "sessions-and-nodes.md").read_text(encoding="utf-8")
    assert marked(page) == {"stores": stores_table.table()}
    shown = stores_table.load_rows()
    assert set(shown) == {
        *(f"{name} {bug} {store}" for name, bug in stores_table.known_bugs_of() for store in stores_table.STORES),
        *(f"{name} {one} {store}" for name, one in stores_table.INSTANCES for store in stores_table.STORES),
    }
    alone = shown["ownership deletion_sent_again rocksdb"]
    assert stores_table.shown_with("ownership", "deletion_sent_again", "rocksdb") == alone == {}


@pytest.mark.deep
@pytest.mark.parametrize(("protocol", "bug"), stores_table.known_bugs_of())
def test_bugs_show_with_the_stores_that_the_page_tells_of(protocol: str, bug: str) -> None:
    shown = stores_table.load_rows()
    for store in stores_table.STORES:
        assert stores_table.shown_with(protocol, bug, store) == shown[f"{protocol} {bug} {store}"], store


@pytest.mark.deep
@pytest.mark.parametrize(("protocol", "instance"), stores_table.INSTANCES)
def test_controls_show_with_the_stores_that_the_page_tells_of(protocol: str, instance: str) -> None:
    shown = stores_table.load_rows()
    for store in stores_table.STORES:
        assert stores_table.controls_with(protocol, instance, store) == shown[f"{protocol} {instance} {store}"], store


def test_every_file_on_the_map_is_there() -> None:
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text(encoding="utf-8")
    files = re.findall(r"`([a-z_]+/[\w/]+\.py)`", page)
    assert len(files) > 20
    assert [file for file in files if not (ROOT / file).is_file()] == []


@pytest.mark.parametrize(("folder", "names"), [("reference", 6), ("how-to", 4), ("explanation", 2)])
def test_the_page_of_contents_leads_to_every_document(folder: str, names: int) -> None:
    documents = sorted((ROOT / "docs" / folder).glob("*.md"))
    contents = (ROOT / "docs" / "contents.md").read_text(encoding="utf-8")
    assert len(documents) >= names
    missing = [d.name for d in documents if f"({folder}/{d.name})" not in contents]
    assert not missing, f"add a line for each in docs/contents.md: {missing}"


def test_the_reference_has_a_section_for_each_command() -> None:
    reference = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^## fencepost (\w+)$", reference, re.MULTILINE)) == sorted(COMMANDS.by_name)
    assert "--require NAME>=N" in with_options(reference)


def test_the_control_plane_is_in_the_reference() -> None:
    assert PAGES.keys() >= {"ledger", "election", "ownership", "unload"}


def _names(protocol: str) -> frozenset[str]:
    return frozenset().union(*names_of(protocol))


@pytest.mark.xdist_group("names")
@pytest.mark.parametrize("protocol", [pytest.param(name, marks=pytest.mark.long) if name in LARGE else name for name in PAGES])
def test_every_name_in_the_reference_is_of_the_protocol(protocol: str) -> None:
    entry = PROTOCOLS[protocol]
    values = {name for v in entry.build({}).variables if isinstance(v.domain, Choice) for name in v.domain.names}
    shown = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", PAGES[protocol].read_text(encoding="utf-8")))
    declared = entry.outline({}).protocol.mirrors.keys()  # also where no instance has such a step
    assert shown - values - _names(protocol) - declared == set()


@pytest.mark.xdist_group("names")
@pytest.mark.long
def test_every_name_of_the_metadata_store_is_of_a_protocol_or_a_node() -> None:
    shown = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", (REFERENCE / "sessions-and-nodes.md").read_text(encoding="utf-8")))
    named = _names("election") | _names("ownership") | _names("unload") | _names("split") | vars(EphemeralNode).keys()
    assert shown - named == set()


def test_every_word_of_the_language_is_in_the_reference() -> None:
    from fencepost.model import language
    from fencepost.model.language import Protocol
    from fencepost.properties.vocabulary import Suite

    text = (ROOT / "docs" / "reference" / "language.md").read_text(encoding="utf-8")
    seam = {"add_family", "add_actions", "receivers"}  # what another kind of protocol of the language itself overrides
    methods = [name for kind in (Protocol, Suite) for name in vars(kind) if not name.startswith("_") and name not in seam]
    assert {name for name in [*language.__all__, *methods] if f"`{name}" not in text and f".{name}" not in text} == set()


# --- the runner itself: an example that is wrong must not pass


@pytest.mark.parametrize(
    ("shown", "printed", "fits"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a"], ["a", "b"], False),
        (["a", "b"], ["a"], False),
        ([], ["a"], False),
        (["a", "..."], ["a", "b", "c"], True),
        (["a", "...", "c"], ["a", "c"], True),
        (["a", "...", "d"], ["a", "b", "c"], False),
        (["a", "# 0.1 s"], ["a", "# 7.5 s", "# 8 s"], True),
        (["a."], ["ab"], False),
    ],
)
def test_what_is_shown_must_be_what_is_printed(shown: list[str], printed: list[str], fits: bool) -> None:
    assert matches(shown, printed) is fits


def test_blocks_and_exchanges_are_read() -> None:
    document = "text\n\n<!-- deep -->\n```console\n$ fencepost a \\\n    b\nout\n$ echo $?\n0\n```\n\n```python\nx = 1\n```\n"
    first, second = blocks(document)
    assert (first.language, first.is_deep, second.language, second.note) == ("console", True, "python", "")
    assert [e.command for e in exchanges(first.text)] == ["fencepost a \\\n    b", "echo $?"]
    assert document[slice(*second.span)] == "x = 1\n"
    with pytest.raises(ValueError, match="begins with a command"):
        exchanges("out\n$ fencepost\n")


def test_a_wrong_example_is_corrected(tmp_path: Path) -> None:
    document = "<!-- file: f -->\n```text\nhello\n```\n\n```console\n$ cat f\ngoodbye\n$ cat f\nhello\n```\n"
    assert refreshed(document, Session(tmp_path), deep=False) == document.replace("goodbye", "hello")


def test_a_traceback_is_never_shown(tmp_path: Path) -> None:
    document = "<!-- file: f.py -->\n```python\n1 / 0\n```\n\n```console\n$ python f.py\n```\n"
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        refreshed(document, Session(tmp_path), deep=False)


USAGE = "```console\n$ fencepost check nothing_of_the_kind\n...\n$ echo $?\n2\n```\n"


def test_an_error_is_shown_only_where_it_is_meant(tmp_path: Path) -> None:
    def wrong(document: str, name: str) -> str | None:
        (tmp_path / name).mkdir()
        ((block, commands),) = played(document, Session(tmp_path / name), deep=False)
        assert all(matches(command.shown.output, command.printed) for command in commands)
        return misplaced(block, commands)

    assert "an error, in a block that is not marked" in str(wrong(USAGE, "unmarked"))
    assert wrong(f"<!-- error -->\n{USAGE}", "marked") is None
    assert "and no command ends with one" in str(wrong("<!-- error -->\n```console\n$ echo $?\n0\n```\n", "none"))
    (tmp_path / "refreshed").mkdir()
    with pytest.raises(RuntimeError, match="line 2: an error, in a block"):
        refreshed(USAGE, Session(tmp_path / "refreshed"), deep=False)


def test_a_message_of_the_command_is_an_error_whatever_its_status() -> None:
    shown = exchanges("$ fencepost policy decide\n")[0]
    assert Played(shown, ("fencepost: hasty.py:3: IndexError",), 75).is_error
    assert Played(shown, (), ExitStatus.INPUT).is_error
    assert not Played(shown, ("1 violated (exit 12)",), 12).is_error


def test_a_python_block_is_run(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        list(played("```python\nx = 0\n```\n\n```python\n1 / x\n```\n", Session(tmp_path), deep=False))


def test_a_passage_is_compared_and_not_run(tmp_path: Path) -> None:
    document = "<!-- from: a.py -->\n```python\nif x:\n    y()\n```\n"
    (passage,) = blocks(document)
    assert passage.source == "a.py"
    assert list(played(document, Session(tmp_path), deep=False)) == []
    assert _is_passage(passage.text, "def f():\n    if x:\n        y()\n")
    assert not _is_passage(passage.text, "def f():\n    if x:\n        z()\n")


def test_only_known_commands_are_run(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="may not run"):
        Session(tmp_path).run("rm x")


def test_make_check_runs_fencepost(tmp_path: Path) -> None:
    session = Session(tmp_path)
    assert session.run('make check ARGS="--conf absent.conf"') == [
        "fencepost: absent.conf: there is no such file; give the path of a broker.conf"
    ]
    assert session.run("echo $?") == ["150"]
    assert session.run('make explore ARGS="report absent"')[0].startswith("fencepost: absent holds no run")


def test_a_block_knows_its_file() -> None:
    assert Block("python", "", "file: a.py", (0, 0), 1).file == "a.py"
    assert Block("python", "", "", (0, 0), 1).file is None
