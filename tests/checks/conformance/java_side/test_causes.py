"""Of what a JVM or Maven says when it fails, the last cause is told, in one line and without the styles of a terminal."""

from __future__ import annotations

import pytest

from fencepost.checks.conformance.java_side.causes import last_cause, of_maven

ESCAPE = "\x1b[0m"
TRACE = """WARN: something before
java.lang.RuntimeException: the broker does not start
\tat a.b.C.main(C.java:1)
Caused by: java.io.IOException: cannot open the ledger
\tat a.b.D.open(D.java:2)
Caused by: java.net.BindException: Address already in use
\tat a.b.E.bind(E.java:3)
\t... 3 more
"""


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (TRACE, "java.net.BindException: Address already in use"),
        (TRACE + "java.lang.IllegalStateException: later\n\tat x.Y.z(Y.java:1)\n", "java.lang.IllegalStateException: later"),
        ('Exception in thread "main" java.lang.OutOfMemoryError: heap\n', "java.lang.OutOfMemoryError: heap"),
        ("java.io.IOException: x.log: No space left on device\n\tat x.Y.z(Y.java:1)\n", "No space left on device"),
        (f"{ESCAPE}one\n\n{ESCAPE}two\n", "two"),
        ("", ""),
    ],
)
def test_the_last_cause_of_a_jvm(said: str, cause: str) -> None:
    assert last_cause(said) == cause


RESOLVE = "Failed to execute goal on project conformance: Could not resolve dependencies for project a:b:jar:1"


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        (
            f"{ESCAPE}[ERROR] {RESOLVE}: Could not find artifact g:a:jar:9 in central (https://repo/maven2) -> [Help 1]\n",
            "Could not find artifact g:a:jar:9 in central (https://repo/maven2)",
        ),
        (
            f"[ERROR] {RESOLVE}: g:p:pom:1 was not found in https://repo/maven2 before. This failure was cached",
            "g:p:pom:1 was not found in https://repo/maven2 before",
        ),
        (
            f"[ERROR] {RESOLVE}: Could not transfer artifact g:a:jar:1 from/to central (https://repo): Connect timed out",
            "Could not transfer artifact g:a:jar:1 from/to central (https://repo): Connect timed out",
        ),
        ("[ERROR] Failed to copy artifact 'g:a:jar:1': /x/a.jar (No space left on device)", "No space left on device"),
        (
            "The JAVA_HOME environment variable is not defined correctly,\nit is needed to run this program.\n",
            "The JAVA_HOME environment variable is not defined correctly, it is needed to run this program.",
        ),
        ("", "it says nothing"),
    ],
)
def test_the_last_cause_of_maven(said: str, cause: str) -> None:
    assert of_maven(said) == cause
