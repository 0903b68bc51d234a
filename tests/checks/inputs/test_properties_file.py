"""Properties files: each rule of java.util.Properties, as its documentation and its behaviour have them."""

import pytest

from fencepost.checks.inputs.settings_files import MalformedEscape, settings


def read(text: str) -> dict[str, str]:
    return {setting.key: setting.value for setting in settings(text.encode("iso-8859-1"))}


@pytest.mark.parametrize("line", ["k=v", "k:v", "k v", "k\tv", "  k = v", "k\f:\tv", "k = v\r", "\\k=\\v"])
def test_separators(line: str) -> None:
    assert read(line) == {"k": "v"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# a=1\n! b=2\n  # c=3\nd=4", {"d": "4"}),
        ("k=", {"k": ""}),
        ("k", {"k": ""}),
        ("k==v", {"k": "=v"}),
        ("k = : v", {"k": ": v"}),
        ("k=v # not a comment", {"k": "v # not a comment"}),
        ("k=v  ", {"k": "v  "}),
        ("=v", {"": "v"}),
        ("a\\=b\\ c=d", {"a=b c": "d"}),
        ("k=a\\\n   b", {"k": "ab"}),
        ("k=a\\\n# b", {"k": "a# b"}),
        ("k=a\\\n\nj=b", {"k": "a", "j": "b"}),
        ("k=a\\\\\nj=b", {"k": "a\\", "j": "b"}),
        ("k=a\\\\\\\n b", {"k": "a\\b"}),
        ("# comment \\\nk=v", {"k": "v"}),
        ("k=v\\", {"k": "v"}),
        ("\\\n# comment\nk=v", {"k": "v"}),
        ("k=\\t\\n\\r\\f\\u0041\\z", {"k": "\t\n\r\fAz"}),
        ("\\u006b=v", {"k": "v"}),
        ("a=1\rb=2\r\nc=3\n", {"a": "1", "b": "2", "c": "3"}),
        ("k=\u00e9", {"k": "\u00e9"}),
        ("", {}),
    ],
)
def test_rules(text: str, expected: dict[str, str]) -> None:
    assert read(text) == expected


def test_lines_are_those_on_which_a_setting_begins() -> None:
    entries = settings(b"# one\n\na=1\\\n  2\\\n  3\nb=4\r\n\r\nc=5\rc=6")
    assert [(s.key, s.value, s.line) for s in entries] == [("a", "123", 3), ("b", "4", 6), ("c", "5", 8), ("c", "6", 9)]


@pytest.mark.parametrize("escape", ["\\u12", "\\u12g4", "\\u", "\\u 123", "\\u+123"])
def test_malformed_escapes(escape: str) -> None:
    with pytest.raises(MalformedEscape) as error:
        settings(f"a=1\nk={escape}\n".encode())
    assert error.value.line == 2
