"""Whether a certificate is what the installed model makes of the instance that it names: the same files, byte by byte."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from fencepost.checks.certify.checking import CertificateError
from fencepost.checks.export.certificate import MANIFEST, certificate_files, installed_version, subject
from fencepost.checks.settings.own_protocols import own_protocols
from fencepost.model.language import ModelError
from fencepost.properties.protocols import PROTOCOLS
from fencepost.properties.registry import Entry, RegistryError

AS_IT_STANDS = "--as-it-stands checks the formulas alone, and not what they are about"


def remade(folder: Path, manifest: Mapping[str, Any], own: Path | None) -> str:
    """Makes the certificate again and compares the files; returns in words what it is about, and proves.

    ``own`` is the file of a protocol that is none of Fencepost's. CertificateError if the certificate is of another version, of
    an instance that there is not, or differs; InputError if the file cannot be executed.
    """
    path, here = folder / MANIFEST, installed_version()
    name, made_by = manifest.get("protocol"), manifest.get("fencepost")
    parameters, defects = manifest.get("parameters"), manifest.get("defects")
    if made_by != here:
        raise CertificateError(f"{path}: it was made by Fencepost {made_by!r}, and this is {here!r}; {AS_IT_STANDS}")
    if not isinstance(name, str) or not isinstance(parameters, dict) or not isinstance(defects, list):
        raise CertificateError(f"{path}: it does not name a protocol, its parameters and its defects")
    entry = _entry(path, name, own)
    try:
        protocol = entry.of_file(parameters, defects)
        files = certificate_files(entry, protocol)
    except (RegistryError, ModelError) as error:
        raise CertificateError(f"{path}: there is no proof of what it names: {error}") from error
    _compare(folder, files)
    return f"{subject(entry, protocol)}: {', '.join(manifest['proves'])}"


def _entry(path: Path, name: str, own: Path | None) -> Entry:
    if own is not None:
        for entry in own_protocols(own, PROTOCOLS):
            if entry.name == name:
                return entry
        raise CertificateError(f"{path}: it is of {name!r}, which is not in {own}")
    if name not in PROTOCOLS:
        remedy = "name the file that has it by --protocol FILE.py"
        raise CertificateError(f"{path}: it is of {name!r}, which is no protocol of Fencepost's; {remedy}")
    return PROTOCOLS[name]


def _compare(folder: Path, files: Mapping[str, str]) -> None:
    """CertificateError unless the folder has these files, and no others, with these bytes."""
    strangers = sorted({path.name for path in folder.iterdir()} - files.keys())
    if strangers:
        raise CertificateError(f"{folder / strangers[0]}: the proof has no such file; {AS_IT_STANDS}")
    for name, text in files.items():
        path, wanted = folder / name, text.encode()
        if not path.is_file():
            raise CertificateError(f"{path}: it is missing, and the proof has it; {AS_IT_STANDS}")
        if path.stat().st_size != len(wanted) or path.read_bytes() != wanted:
            message = f"line {_differing(path, wanted)} is not what the installed model makes"
            raise CertificateError(f"{path}: {message}; {AS_IT_STANDS}")


def _differing(path: Path, wanted: bytes) -> int:
    """The first line, from 1 on, in which a file is not as it should be."""
    lines, should = path.read_bytes().split(b"\n"), wanted.split(b"\n")
    pairs = enumerate(zip_longest(lines, should), start=1)
    return next(number for number, (line, other) in pairs if line != other)
