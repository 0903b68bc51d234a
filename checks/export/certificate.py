"""The certificate of a proof by induction: its scripts, and a manifest with the digest of each."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from fencepost.checks.engines.plan import Checked
from fencepost.checks.export.smtlib import scripts
from fencepost.properties.registry import Entry, written
from fencepost.traces.files.writing import write_text


def certify(checked: Checked, folder: Path) -> str:
    """Writes the certificate of what was proved of an instance to a folder of its own; returns a line that says so, or why
    there is none."""
    protocol, verdicts, failures = checked.protocol, checked.findings.verdicts, checked.findings.failures
    about = f"{checked.entry.name}, {checked.instance.name}"
    if not isinstance(checked.entry, Entry) or not verdicts or any(v.verdict != "proved" for v in verdicts) or failures:
        return f"certificate: none of {about}, since not everything is proved"
    files = scripts(checked.entry.suite(protocol))
    settings = " ".join(f"{name}={written(value)}" for name, value in protocol.parameters.items())
    manifest = {
        "format": 1,
        "about": f"{about}: {settings}",
        "proves": [p["name"] for p in json.loads(files["index.json"])["properties"]],
        "files": {name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()},
    }
    text = json.dumps(manifest, indent=2) + "\n"
    out = folder / re.sub(r"[^a-z0-9]+", "-", about.lower()).strip("-")
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.smt2"):
        old.unlink()
    for name, content in {**files, "certificate.json": text}.items():
        write_text(out / name, content)
    return f"certificate: {out}, {hashlib.sha256(text.encode()).hexdigest()}"
