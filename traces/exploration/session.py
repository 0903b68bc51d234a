"""A Spark session: on this machine unless a master is named, quiet, on the Java that was chosen."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from pyspark.sql import SparkSession

from fencepost.traces.exploration.java import SparkError, chosen, write_launcher
from fencepost.traces.signals import say_at_once

ATTEMPTS = 4
"""How often Spark tries a task before it gives a job up: what a cluster does by itself, and ``local`` only if told."""

_KEPT = {
    "spark.sql.ui.retainedExecutions": "20",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.sql.hive.filesourcePartitionFileCacheSize": "0",
}
"""What a driver keeps of queries that have ended, for pages that show them, and of files that it has listed: by itself up to a
thousand plans of 0.1 MiB and more, and 250 MiB of listings that no later query finds, so that it grows with each round."""

_MASTER = r"local(\[.+\])?|local-cluster\[.+\]|spark://[^\s,]+:\d{1,5}(,[^\s,]+:\d{1,5})*|yarn|k8s://.+"
_PATIENCE = 10.0
"""Seconds that a master has to answer."""

_ROOT = Path(__file__).absolute().parents[3]

_LOGGING = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = # spark: %m%n%ex{0}
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = error
logger.scheduler.name = org.apache.spark.scheduler.TaskSchedulerImpl
logger.scheduler.level = warn
logger.tasks.name = org.apache.spark.scheduler.TaskSetManager
logger.tasks.level = off
logger.executor.name = org.apache.spark.executor
logger.executor.level = off
logger.files.name = org.apache.spark.sql.execution.datasources
logger.files.level = off
logger.utils.name = org.apache.spark.util.Utils
logger.utils.level = off
logger.committer.name = org.apache.spark.mapred
logger.committer.level = off
"""
"""What fails for good is told once, by the driver; a master that has no room for the job is worth a warning."""


@contextmanager
def spark_session(
    master: str = "local[*]", settings: Mapping[str, str] | None = None, *, light: bool = False
) -> Iterator[SparkSession]:
    """A session that ends with the block; ``settings`` are Spark's own, by name, and win over what is set here.

    ``light`` says that Spark itself will have little to do: its JVM then compiles quickly rather than well, which halves the
    time until the first task. Raises JavaError, and SparkError if the session cannot be started.
    """
    require_master(master)
    with tempfile.TemporaryDirectory(prefix="fencepost-") as folder:
        java = chosen()
        write_launcher(java, Path(folder) / "java")
        logging = Path(folder) / "log4j2.properties"
        logging.write_text(_LOGGING, encoding="utf-8")
        with _environment(JAVA_HOME=str(Path(folder) / "java"), **_local(master)):
            builder = SparkSession.builder.master(patient(master)).appName("fencepost")
            for name, value in {**_settings(master, logging, Path(folder), light), **(settings or {})}.items():
                builder = builder.config(name, value)
            try:
                with _held_back() as interrupts:
                    session = builder.getOrCreate()
            except Exception as error:  # Py4J lets through whatever happens to a JVM that gives up
                with_java = f"{java.source} (Java {java.version})"
                raise SparkError(f"Spark does not start on {master}, with {with_java}: {_line(error)}") from error
            try:
                if interrupts:
                    raise KeyboardInterrupt
                yield session
            finally:
                session.stop()


@contextmanager
def _held_back() -> Iterator[list[int]]:
    """Ctrl-C is only noted within it: a JVM that starts, and whose Python has gone meanwhile, would stay forever."""
    noted = list[int]()
    if threading.current_thread() is not threading.main_thread():  # it is never told of Ctrl-C
        yield noted
        return

    def note(number: int, frame: FrameType | None) -> None:
        noted.append(number)
        say_at_once("\n# spark: stopping as soon as it has started\n")

    before = signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def require_master(master: str) -> None:
    """Raises SparkError for what is no master, and for a standalone one that does not answer: Spark would say so at length."""
    if not re.fullmatch(_MASTER, master):
        raise SparkError(f"there is no master {master!r}: write local[*], local[N], spark://HOST:PORT, yarn or k8s://URL")
    if not master.startswith("spark://"):
        return
    refused = ""
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), _PATIENCE):
                return
        except OSError as error:
            refused = error.strerror or str(error)
    raise SparkError(f"{master} does not answer: {refused}; is the master running, and this its URL?")


def patient(master: str) -> str:
    """The master, told to try a task again where it would give up at once."""
    match = re.fullmatch(r"local(?:\[([^,\]]+)\])?", master)
    return f"local[{match[1] or 1},{ATTEMPTS}]" if match else master


def reason(error: Exception) -> str:
    """What Spark's error says, in a line: its innermost cause."""
    return _line(error)


def _settings(master: str, logging: Path, folder: Path, light: bool) -> dict[str, str]:
    compiler = " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC" if light else ""
    settings = {
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={logging.as_uri()}{compiler}",
        "spark.ui.showConsoleProgress": "false",
        **_KEPT,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    }
    if master.startswith("local"):
        settings |= {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "2g",
            "spark.local.dir": str(folder),
            "spark.sql.shuffle.partitions": "8",
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.executorEnv.PYTHONPATH": str(_ROOT),
        }
    return settings


def _local(master: str) -> dict[str, str]:
    """Where the workers are this machine's, they run this Python with these packages."""
    if not master.startswith("local"):
        return {}
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": os.pathsep.join(paths)}


@contextmanager
def _environment(**changes: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [match[0] for line in lines if (match := re.search(r"(?:\w+\.)*\w*(?:Error|Exception): .*", line))]
    return (causes[-1:] or lines[:1] or [type(error).__name__])[0][:300]
