"""A server on the loopback interface that answers as brokers of Pulsar 4.2.4 do, and remembers what it is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any


@dataclass
class Asked:
    """One request."""

    method: str
    path: str
    authorization: str | None


@dataclass
class FakeBroker:
    """Answers by path: JSON, or a status with what it says, or a place to go to instead, or never."""

    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    address: str = ""

    @property
    def url(self) -> str:
        return f"http://{self.address}"


@dataclass
class Refusal:
    """A status other than 200."""

    status: int
    reason: str = ""
    location: str = ""
    raw: bytes | None = None
    never: bool = False


@contextmanager
def fake_broker() -> Iterator[FakeBroker]:
    """A broker that runs as long as this."""
    broker, ended = FakeBroker(), Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            broker.asked.append(Asked(self.command, self.path, self.headers.get("Authorization")))
            answer = broker.answers.get(self.path.removeprefix("/admin/v2/"), Refusal(404, "not there"))
            refusal = answer if isinstance(answer, Refusal) else Refusal(200)
            if refusal.never:
                ended.wait()
                return
            body = json.dumps(answer if refusal is not answer else {"reason": refusal.reason}).encode()
            with suppress(ConnectionError):  # who asked may have given up
                self.send_response(refusal.status)
                if refusal.location:
                    self.send_header("Location", refusal.location)
                self.end_headers()
                self.wfile.write(body if refusal.raw is None else refusal.raw)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    broker.address = f"127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield broker
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


def report(address: str, **more: Any) -> dict[str, Any]:
    """A load report as a broker of 4.2.4 was seen to make it, on a machine whose network card tells no speed."""
    fields = {
        "webServiceUrl": f"http://{address}",
        "pulsarServiceUrl": "pulsar://127.0.0.1:35735",
        "persistentTopicsEnabled": True,
        "nonPersistentTopicsEnabled": True,
        "cpu": {"usage": 199.98333611064822, "limit": 200.0},
        "memory": {"usage": 138.72381591796875, "limit": 742.4375},
        "directMemory": {"usage": 19.0, "limit": 742.0},
        "bandwidthIn": {"usage": 0.005599813388230852, "limit": -1000.0},
        "bandwidthOut": {"usage": 0.005599813339604823, "limit": -1000.0},
        "msgThroughputIn": 0.0,
        "msgThroughputOut": 0.0,
        "msgRateIn": 0.0,
        "msgRateOut": 0.0,
        "lastUpdate": 1795350463724,
        "lastStats": {},
        "numTopics": 0,
        "numBundles": 0,
        "numConsumers": 0,
        "numProducers": 0,
        "bundles": [],
        "lastBundleGains": [],
        "lastBundleLosses": [],
        "brokerVersionString": "4.2.4",
        "protocols": {},
        "advertisedListeners": {},
        "loadManagerClassName": "org.apache.pulsar.broker.loadbalance.impl.ModularLoadManagerImpl",
        "startTimestamp": 1795350458683,
        "maxResourceUsage": 0.999916672706604,
        "loadReportType": "LocalBrokerData",
    }
    return fields | more
