"""What a running cluster says of itself: its version, each broker's configuration, its namespaces, its bookies.

Only GET requests are sent, and only to the addresses that were given. What is refused is noted, and the rest is asked
nevertheless. Mirrors the paths of BrokersBase, Tenants, Namespaces and Bookies of pulsar-broker 5.0.1, and of
ConfigurationService of BookKeeper's HTTP server (``/api/v1/config/server_config``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

from fencepost.checks.policy.cluster.admin import Admin, AdminError
from fencepost.model.counts import count_of

CLUSTER = "cluster.json"
"""The file of what is said of the cluster as a whole."""

SECRET = re.compile("password|secret|authenticationparameters|token|credential|accesskey", re.IGNORECASE)
"""What the name of a setting has whose value may be a secret."""


T = TypeVar("T")


@dataclass(frozen=True)
class Said:
    """What a cluster said: by the names of the files in which it is kept, and what was ``refused``, each with the reason."""

    files: Mapping[str, object] = field(default_factory=dict)
    refused: tuple[str, ...] = ()

    @property
    def texts(self) -> dict[str, str]:
        """The files as text: JSON with sorted keys, so that a diff of two days is a diff of what changed."""
        return {name: json.dumps(value, indent=2, sort_keys=True) + "\n" for name, value in self.files.items()}


def ask(admins: Sequence[Admin], bookies: Sequence[Admin], tell: Callable[[str], None]) -> Said:
    """Asks the brokers, and the HTTP servers of bookies, at these addresses; ``tell`` hears how far it is.

    AdminError if the first broker does not say its version: then it is none, or cannot be reached.
    """
    files, refused = dict[str, object](), list[str]()

    def asked(call: Callable[[], T]) -> T | None:
        try:
            return call()
        except AdminError as error:
            refused.append(str(error))
            return None

    first, whole = admins[0], dict[str, object]()
    whole["version"] = first.text("brokers", "version")
    whole["brokers"] = asked(lambda: sorted(first.get("brokers")))
    whole["bookies"] = asked(lambda: sorted(bookie["bookieId"] for bookie in first.get("bookies", "all")["bookies"]))
    whole["racks"] = asked(lambda: first.get("bookies", "racks-info"))
    for number, admin in enumerate(admins):
        tell(f"configuration of {number} of {count_of(len(admins), 'broker')}")
        if (runtime := asked(lambda admin=admin: admin.get("brokers", "configuration", "runtime"))) is not None:  # type: ignore[misc]
            files[f"brokers/{file_name(admin)}"] = without_secrets(runtime)
    for admin in bookies:
        if (own := asked(lambda admin=admin: admin.get("config", "server_config", below="/api/v1/"))) is not None:  # type: ignore[misc]
            files[f"bookies/{file_name(admin)}"] = without_secrets(own)
    namespaces = list(_namespaces(first, asked))
    for number, namespace in enumerate(namespaces):
        tell(f"policies of {number} of {count_of(len(namespaces), 'namespace')}")
        policies = asked(lambda namespace=namespace: first.get("namespaces", *namespace.split("/")))  # type: ignore[misc]
        if policies is not None:
            files[f"namespaces/{namespace}.json"] = without_secrets(policies)
    return Said({CLUSTER: {key: value for key, value in whole.items() if value is not None}, **files}, tuple(refused))


class _Asked(Protocol):
    """Asks something; None if that is refused."""

    def __call__(self, call: Callable[[], T]) -> T | None: ...


def _namespaces(admin: Admin, asked: _Asked) -> Iterator[str]:
    """Each namespace as TENANT/NAME, sorted; none of a tenant that refuses to say."""
    for tenant in sorted(asked(lambda: admin.get("tenants")) or ()):
        yield from sorted(asked(lambda tenant=tenant: admin.get("namespaces", tenant)) or ())  # type: ignore[misc]


def without_secrets(settings: Mapping[str, object]) -> dict[str, object]:
    """The settings without the values of those that may be passwords, at any depth: they have no place in a folder."""
    return {
        key: without_secrets(value) if isinstance(value, dict) else "" if SECRET.search(key) and value else value
        for key, value in settings.items()
    }


def file_name(admin: Admin) -> str:
    """The name of the file of what an address says, without what no file system takes."""
    return f"{urlsplit(admin.url).netloc.replace(':', '_')}.json"
