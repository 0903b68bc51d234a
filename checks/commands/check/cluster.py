"""``--cluster``: a running cluster, or a folder that ``--save`` wrote, in the place of the files of a configuration."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

from fencepost.checks.commands.check.request import CheckRequest
from fencepost.checks.console.progress import Reporter
from fencepost.checks.inputs.input_files import Inputs
from fencepost.properties.registry import RegistryError

URL = re.compile(r"https?://", re.IGNORECASE)


def with_cluster(asked: CheckRequest, inputs: Inputs) -> CheckRequest:
    """The request with what the cluster says as its configuration, before the files of ``--conf``; its namespaces are those of
    the request. The files are given to ``inputs`` under the names that they would have, and written if they are to be saved.

    Raises InputError if the first broker cannot be asked, or the folder has no such files, and OSError.
    """
    if not asked.cluster:
        if asked.save is not None or asked.token_file is not None or asked.bookie:
            raise RegistryError("--save, --token-file and --bookie are of a running cluster: add --cluster http://BROKER:PORT")
        return asked
    from fencepost.checks.cluster.running import ask
    from fencepost.checks.cluster.saved import Files
    from fencepost.checks.policy.cluster.admin import Admin, token_in

    if not URL.match(asked.cluster[0]):
        if len(asked.cluster) > 1 or asked.save is not None or asked.bookie:
            raise RegistryError(f"--cluster {asked.cluster[0]} is a folder: give it alone")
        files = Files.read(Path(asked.cluster[0]))
    else:
        token = token_in(asked.token_file)
        admins = [Admin(url.rstrip("/"), token, option="--cluster") for url in dict.fromkeys(asked.cluster)]
        bookies = [Admin(url.rstrip("/"), option="--bookie") for url in dict.fromkeys(asked.bookie)]
        for admin in (admin for admin in admins if admin.sends_in_the_clear):
            print(f"note: {admin.url}: the token travels without TLS; https:// protects it", file=sys.stderr)
        reporter = Reporter(quiet=asked.quiet, stream=sys.stderr)
        reporter.begin("asking the cluster")
        try:
            said = ask(admins, bookies, reporter.telling)
        finally:
            reporter.end()
        files = Files.of(asked.save or Path(URL.sub("", admins[0].url)), said)
        if asked.save is not None:
            files.write(asked.save)
    for name, text in files.texts.items():
        inputs.give(files.folder / name, text.encode())
    conf, namespaces = [*files.configuration, *asked.conf], [*files.namespaces, *asked.namespace]
    placed = replace(asked, racks=files.racks, groups=files.groups)
    return replace(placed, conf=conf, namespace=namespaces, name=str(files.folder), facts=tuple(files.facts))
