"""Pulsar's Admin REST interface, read: GET requests to the one address that was given, and to nothing else."""

from __future__ import annotations

import http.client
import ipaddress
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from fencepost.checks.inputs.input_files import InputError, read_text
from fencepost.checks.policy.usage import WrongUsage

ADMIN = "/admin/v2/"
MOST = 1 << 28
"""Bytes of one answer."""


class AdminError(InputError):
    """An answer that cannot be used, or none; the message names the address, the path and the remedy, never the token."""


class NotFound(AdminError):
    """What was asked for does not exist."""


class Elsewhere(AdminError):
    """Another broker would have to be asked, whose address was not given."""


class Failed(AdminError):
    """The broker failed to answer, as it does where its load manager has no such report."""


@dataclass(frozen=True)
class Admin:
    """The interface at one address, ``http://HOST:PORT`` or ``https://HOST:PORT``, which an ``option`` named; each request may
    take ``seconds``."""

    url: str
    token: str | None = field(default=None, repr=False)
    seconds: float = 10.0
    option: str = "--admin"

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            fits = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            fits = False
        if not fits or parts.username or parts.password or parts.query or parts.fragment:
            remedy = "leave the password out and give --token-file" if "@" in self.url else "write such as http://broker-1:8080"
            address = self.url.rpartition("@")[2]
            raise WrongUsage(f"{self.option} {address}: is not an address of the Admin REST interface; {remedy}")

    @property
    def sends_in_the_clear(self) -> bool:
        """Whether a token would travel without TLS, and not only within this machine."""
        parts = urlsplit(self.url)
        return self.token is not None and parts.scheme == "http" and not _is_loopback(parts.hostname or "")

    def get(self, *path: str, below: str = ADMIN) -> Any:
        """What the interface answers to ``/admin/v2/PATH``, read as JSON; the parts of the path are quoted. A bookie's has its
        paths ``below`` another one.

        Raises NotFound, Elsewhere, Failed, and AdminError for whatever else goes wrong.
        """
        where, data = self._fetched(path, below)
        try:
            return json.loads(data)
        except ValueError:
            raise self._error(where, "does not answer in JSON: is this Pulsar's Admin REST interface?") from None

    def text(self, *path: str) -> str:
        """What the interface answers as plain text, as it does where a name is asked for; raises as ``get`` does."""
        where, data = self._fetched(path)
        try:
            return data.decode().strip().strip('"')
        except UnicodeDecodeError:
            raise self._error(where, "does not answer in text: is this Pulsar's Admin REST interface?") from None

    def _fetched(self, path: Iterable[str], below: str = ADMIN) -> tuple[str, bytes]:
        where = below + "/".join(quote(part, safe="") for part in path)
        headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {self.token}"} if self.token else {})
        request = Request(self.url.rstrip("/") + where, headers=headers)
        # a proxy of the environment would be another host
        opener = build_opener(ProxyHandler({}), _SameHost(self.url))
        try:
            with opener.open(request, timeout=self.seconds) as answer:
                data = answer.read(MOST + 1)
        except HTTPError as error:
            raise self._refused(where, error) from None
        except TimeoutError:
            raise self._error(where, f"does not answer within {self.seconds:g} s; see --timeout") from None
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._error(where, f"does not answer within {self.seconds:g} s; see --timeout") from None
            raise self._error(where, f"cannot be reached: {_reason(error.reason)}") from None
        except (OSError, http.client.HTTPException) as error:
            raise self._error(where, f"ends the connection: {_reason(error)}") from None
        if len(data) > MOST:
            raise self._error(where, f"answers with more than {MOST >> 20} MiB")
        return where, data

    def _refused(self, where: str, error: HTTPError) -> AdminError:
        if error.code in (401, 403):
            remedy = "the token is not a superuser's" if self.token else "give a superuser's token with --token-file FILE"
            return self._error(where, f"is forbidden ({error.code}): {remedy}")
        if error.code == 404:
            return NotFound(f"{self.url}: {where} does not exist (404)")
        if 300 <= error.code < 400:
            to = urlsplit(error.headers.get("Location", "")).netloc or "another host"
            return Elsewhere(f"{self.url}: {where} is answered by {to}, which was not given: {self.option} http://{to}")
        with error:
            message = _reason_in(error.read(10_000))
        return Failed(f"{self.url}: {where} fails ({error.code}{': ' + message if message else ''})")

    def _error(self, where: str, what: str) -> AdminError:
        return AdminError(f"{self.url}: {where} {what}")


def token_in(path: Path | None) -> str | None:
    """The token in a file; InputError, which does not show it, if it is none."""
    if path is None:
        return None
    token = read_text(path, "a token").strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(f"{path}: has no token: write it, and nothing else, on one line")
    return token


class _SameHost(HTTPRedirectHandler):
    """Follows a redirect only to where the request went: a token that is sent elsewhere is lost."""

    def __init__(self, url: str) -> None:
        self._origin = _origin(url)

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage, newurl: str
    ) -> Request | None:
        return super().redirect_request(req, fp, code, msg, headers, newurl) if _origin(newurl) == self._origin else None


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    usual: Mapping[str, int] = {"http": 80, "https": 443}
    return parts.scheme, parts.hostname, parts.port or usual.get(parts.scheme)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _reason(error: object) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def _reason_in(body: bytes) -> str:
    """What a broker says of its failure, in a line."""
    try:
        reason = json.loads(body)["reason"]
    except (ValueError, KeyError, TypeError):
        return ""
    return " ".join(str(reason).split())[:120]
