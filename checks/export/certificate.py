"""The certificate of a proof by induction: its scripts, and a manifest with the digest of each.

Every byte of a certificate follows from the protocol, its parameters and its defects: the same model makes the same files.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from fencepost.checks.engines.results.checked import Checked
from fencepost.checks.export.smtlib import scripts
from fencepost.model.language import Protocol
from fencepost.properties.registry import Entry, written
from fencepost.traces.files.writing import write_text

MANIFEST = "certificate.json"
FORMAT = 2


def certify(checked: Checked, folder: Path) -> str:
    """Writes the certificate of what was proved of an instance to a folder of its own; returns a line that says so, or why
    there is none."""
    verdicts, failures = checked.findings.verdicts, checked.findings.failures
    about = f"{checked.entry.name}, {checked.instance.name}"
    if not isinstance(checked.entry, Entry) or not verdicts or any(v.verdict != "proved" for v in verdicts) or failures:
        return f"certificate: none of {about}, since not everything is proved"
    files = certificate_files(checked.entry, checked.protocol)
    out = folder / re.sub(r"[^a-z0-9]+", "-", about.lower()).strip("-")
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.smt2"):
        old.unlink()
    for name, content in files.items():
        write_text(out / name, content)
    return f"certificate: {out}, {hashlib.sha256(files[MANIFEST].encode()).hexdigest()}"


def certificate_files(entry: Entry, protocol: Protocol) -> Mapping[str, str]:
    """The files of the certificate of an instance by name, the manifest last. Raises ModelError if it has no lemmas."""
    files = scripts(entry.suite(protocol))
    manifest = {
        "format": FORMAT,
        "fencepost": installed_version(),
        "protocol": entry.name,
        "parameters": protocol.parameters,
        "defects": list(protocol.active),
        "proves": [stated["name"] for stated in json.loads(files["index.json"])["properties"]],
        "files": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()},
    }
    return {**files, MANIFEST: json.dumps(manifest, indent=2) + "\n"}


def subject(entry: Entry, protocol: Protocol) -> str:
    """What a certificate is about, in words: the protocol, its parameters and its defects."""
    settings = " ".join(f"{name}={written(value)}" for name, value in protocol.parameters.items())
    return f"{entry.name} {settings}".rstrip() + (f" with {', '.join(protocol.active)}" if protocol.active else "")


def installed_version() -> str:
    """The version of Fencepost; of one that runs from its sources, and is not installed, that it is."""
    try:
        return version("fencepost")
    except PackageNotFoundError:
        return "sources"
