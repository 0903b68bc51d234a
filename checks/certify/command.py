"""``fencepost certify``: whether a certificate is accepted."""

from __future__ import annotations

import argparse
import sys
import time

from fencepost.checks.certify.checking import SOLVERS, CertificateError, doubts, read
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.results.verdicts import ExitStatus


def run(asked: argparse.Namespace) -> ExitStatus:
    """Checks a certificate and says what keeps it from being accepted."""
    started = time.monotonic()
    try:
        certificate = read(asked.folder)
    except (CertificateError, OSError, KeyError, TypeError, UnicodeDecodeError) as error:
        is_told = isinstance(error, (CertificateError, OSError))
        told = str(error) if is_told else f"{asked.folder}: it is not of its form: {error!r}"
        print(f"fencepost: {told}", file=sys.stderr)
        return ExitStatus.INPUT
    print(f"certificate {certificate.digest}")
    print(f"{certificate.manifest['about']}: {', '.join(certificate.manifest['proves'])}")
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin("certifying")
    found = list(doubts(certificate, asked.seconds, lambda done, count: reporter.telling(f"{done} of {count} scripts")))
    reporter.end()
    print("".join(f"  {doubt.text}\n" for doubt in found), end="")
    print(f"# {time.monotonic() - started:.1f} s")
    if found:
        print(f"not accepted: {len(found)} of {2 * certificate.obligations:,} answers are not what a proof needs")
        return ExitStatus.SAFETY if any(doubt.refuted for doubt in found) else ExitStatus.INCONCLUSIVE
    print(f"accepted: {certificate.obligations:,} obligations, each by {' and '.join(SOLVERS)}")
    return ExitStatus.HOLDS
