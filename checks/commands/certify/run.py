"""``fencepost certify``: whether a certificate is accepted."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from fencepost.checks.certify.checking import SOLVERS, CertificateError, doubts, read, with_base
from fencepost.checks.certify.remaking import remade
from fencepost.checks.commands.certify.request import CertifyRequest
from fencepost.checks.console.progress import Reporter
from fencepost.checks.engines.results.verdicts import ExitStatus
from fencepost.checks.settings.input_files import InputError
from fencepost.model.counts import count_of
from fencepost.model.language import ModelError
from fencepost.traces.printable import printable


def run(asked: CertifyRequest) -> ExitStatus:
    """Checks a certificate and prints what keeps it from being accepted."""
    started = time.monotonic()
    try:
        certificate = read(asked.folder)
        if asked.as_it_stands:
            certificate, about = with_base(certificate), _claimed(certificate.manifest)
        else:
            about = remade(asked.folder, certificate.manifest, asked.protocol)
    except (CertificateError, InputError, ModelError, OSError) as error:
        print(f"fencepost: {printable(str(error))}", file=sys.stderr)
        return ExitStatus.INPUT
    print(f"certificate {certificate.digest}")
    print(about)
    reporter = Reporter(quiet=asked.quiet)
    reporter.begin("certifying")
    reasons = list(doubts(certificate, asked.timeout, lambda done, count: reporter.telling(f"{done} of {count} scripts")))
    reporter.end()
    print("".join(f"  {printable(doubt.text)}\n" for doubt in reasons), end="")
    print(f"# {time.monotonic() - started:.1f} s")
    if reasons:
        print(f"not accepted: {len(reasons)} of {2 * certificate.obligations:,} answers are not what a proof needs")
        return ExitStatus.SAFETY if any(doubt.refuted for doubt in reasons) else ExitStatus.INCONCLUSIVE
    by = f"{count_of(certificate.obligations, 'obligation')}, each by {' and '.join(SOLVERS)}"
    if asked.as_it_stands:
        print(f"accepted as it stands: {by}; what the formulas are about was NOT checked")
    else:
        print(f"accepted: {by}; they are those that the installed model makes")
    return ExitStatus.HOLDS


def _claimed(manifest: Mapping[str, Any]) -> str:
    """What a certificate says that it is about, which nobody has checked."""
    return printable(f"it says that it is about: {manifest.get('protocol')} {manifest.get('parameters')}"[:300])
