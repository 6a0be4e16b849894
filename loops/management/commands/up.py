"""`loopwatch up`: one command starts everything, Ctrl-C leaves nothing (STACK, "manage.py up")."""

from __future__ import annotations

import contextlib
import http.client
import math
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connection, connections

from loops import address, broker, hosts, premises, sign_in
from loops.agents.confine import confinement
from loops.demo import ensure_demo
from loops.environment import BadSetting, text
from loops.supervisor import Child, Program, Supervisor
from loops.wake import QUEUE, queue_of
from tracker.commands import DJANGO_OPTIONS, refuse_in_one_sentence, user_name
from tracker.errors import DomainError
from tracker.services import person

BROKER_SECONDS = 10.0  # a long append-only file takes a while
OUTSIDE_BROKER_SECONDS = 3.0
READY_SECONDS = 30.0  # after this the person hears why nothing happens


class Command(BaseCommand):
    help = "Starts Loopwatch: web server, worker, clock and broker, until Ctrl-C."
    requires_system_checks = ()
    suppressed_base_arguments = DJANGO_OPTIONS

    def add_arguments(self, parser: CommandParser) -> None:
        refuse_in_one_sentence(parser)
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, default=8000, help="0 takes any free port")
        parser.add_argument("--data", help="data folder, the same as LOOPWATCH_DATA")
        parser.add_argument("--demo", action="store_true", help="add the demo project and session")

    def handle(self, *args: Any, host: str, port: int, demo: bool, **options: Any) -> None:
        supervisor = Supervisor(self._say, settings.LOG_FILE)
        try:
            address.check_host(host)
            confinement()  # a wrong LOOPWATCH_CONFINEMENT is refused before it can harm a session
            premises.check_folder(settings.DATA)
            premises.check_store(settings.STORE_URL)
            lock = premises.lock(settings.DATA)
            listener = premises.listen(host, port)
            _take_signals(supervisor.on_signal)
            try:
                _bring_up(supervisor, lock=lock, listener=listener.fileno(), demo=demo)
                _supervise(supervisor, host, listener.getsockname()[1])
            finally:
                self._say("stopping")
                supervisor.stop()
                broker.remove_socket_folder(settings.DATA)
        except (BadSetting, DomainError) as refusal:
            self.stderr.write(str(refusal))
            sys.exit(2)
        self._say("stopped; nothing is left running")

    def _say(self, sentence: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # the terminal may be gone
            self.stdout.write(sentence)
            self.stdout.flush()


def _take_signals(handler: Callable[..., None]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN or number != signal.SIGHUP:
            signal.signal(number, handler)  # nohup's ignored SIGHUP stays ignored


def _bring_up(supervisor: Supervisor, *, lock: int, listener: int, demo: bool) -> None:
    _start_broker(supervisor, lock)
    if supervisor.is_stopping:
        return
    _migrate()
    hosts.settle_name()
    if demo and not supervisor.is_stopping:
        ensure_demo(person(user_name()))
    connections.close_all()
    for program in (_web(listener, lock), _worker(lock), _clock(lock)):
        if not supervisor.is_stopping:
            supervisor.add(program)


def _start_broker(supervisor: Supervisor, lock: int) -> None:
    """The broker is the first child (it stops last); an outside one only has to answer."""
    if text("REDIS_URL"):
        is_there = _broker_answers(lambda: supervisor.is_stopping, within=OUTSIDE_BROKER_SECONDS)
        if not is_there and not supervisor.is_stopping:
            raise BadSetting(
                "The broker at REDIS_URL does not answer; start it or correct the URL."
            )
        return
    binary = broker.server_binary()
    if binary is None:
        raise BadSetting(
            "No Valkey server was found; install valkey-server, or name a broker with REDIS_URL."
        )
    server = broker.prepare(settings.DATA, binary)
    child = supervisor.add(Program(name="broker", argv=server.argv, keep=(lock,)))
    if _broker_answers(lambda: supervisor.is_stopping or child.is_dead()) or supervisor.is_stopping:
        return
    broker.set_data_aside(server, time.strftime("%Y%m%d-%H%M%S"))
    _start_again(child)
    is_there = _broker_answers(lambda: supervisor.is_stopping or child.is_dead())
    if not is_there and not supervisor.is_stopping:
        raise BadSetting(f"The embedded broker does not start; the reason is in {supervisor.log}.")


def _start_again(child: Child) -> None:
    child.ask_to_stop()
    child.wait_stopped(hurry=lambda: False)
    child.start()


def _broker_answers(give_up: Callable[[], bool], within: float = BROKER_SECONDS) -> bool:
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)
    end = time.monotonic() + within
    with contextlib.closing(client):
        while time.monotonic() < end and not give_up():
            with contextlib.suppress(redis.RedisError):
                return bool(client.ping())
            time.sleep(0.02)
    return False


def _migrate() -> None:
    try:
        call_command("migrate", verbosity=0, interactive=False)
    except DatabaseError as fault:
        where = connection.settings_dict["HOST"] or connection.settings_dict["NAME"]
        reason = " ".join(str(fault).split())
        raise BadSetting(f"The database ({where}) cannot be used: {reason}") from fault


def _python(*arguments: str) -> tuple[str, ...]:
    # -P: the folder that somebody stands in must not provide modules.
    return (sys.executable, "-P", "-m", *arguments)


def _environment() -> dict[str, str]:
    """From a checkout that is not installed, children must find our packages too."""
    root = Path(__file__).resolve().parents[3]
    found = {"LOOPWATCH_DATA": str(settings.DATA), "PYTHONUNBUFFERED": "1"}
    if root.name not in ("site-packages", "dist-packages"):
        found["PYTHONPATH"] = os.pathsep.join(
            filter(None, [str(root), os.environ.get("PYTHONPATH")])
        )
    return found


def _web(listener: int, lock: int) -> Program:
    argv = _python("uvicorn", "loops.asgi:application", "--fd", str(listener), "--lifespan", "off",
                   "--ws", "websockets-sansio", "--ws-max-size", "4096",
                   "--ws-per-message-deflate", "false", "--timeout-graceful-shutdown", "5",
                   "--log-level", "warning", "--no-access-log", "--no-server-header")  # fmt: skip
    return Program(name="web", argv=argv, env=_environment(), keep=(listener, lock))


def _worker(lock: int) -> Program:
    queues = f"{QUEUE},{queue_of(settings.HOST)}"
    argv = _python("celery", "-A", "loops.celery", "worker", "--queues", queues,
                   "--concurrency", str(settings.SLOTS), "--loglevel", "WARNING",
                   "--without-gossip", "--without-mingle", "--without-heartbeat")  # fmt: skip
    # SIGTERM would wait for hours until running tasks are through.
    grace = settings.CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT + 5
    return Program(name="worker", argv=argv, stop_signal=signal.SIGQUIT, grace=grace,
                   env=_environment(), keep=(lock,))  # fmt: skip


def _clock(lock: int) -> Program:
    argv = _python("loops.cli", "clock")
    return Program(name="clock", argv=argv, grace=5.0, env=_environment(), keep=(lock,))


def _supervise(supervisor: Supervisor, host: str, port: int) -> None:
    patience = time.monotonic() + READY_SECONDS
    while not supervisor.is_stopping:
        supervisor.watch_once()
        if time.monotonic() > patience:
            supervisor.say(
                f"not ready after {READY_SECONDS:g} s; the reason is in {supervisor.log}"
            )
            patience = math.inf
        if _is_healthy(host, port):
            _welcome(supervisor, host, port)
            break
        time.sleep(0.1)
    supervisor.watch()


def _welcome(supervisor: Supervisor, host: str, port: int) -> None:
    """Says where to go. A link is printed only while nobody ever signed in: what `up` says is
    often kept in a journal, and each restart would leave a key in it."""
    where = address.note(settings.DATA, host, port)
    supervisor.say(f"Loopwatch is ready: {where}/")
    if warning := address.warning(host):
        supervisor.say(warning)
    try:
        if sign_in.nobody_came_yet():
            made = sign_in.link_for_owner(user_name())
            supervisor.say(f"Sign in (once, within 10 minutes): {where}{made.path}")
        else:
            supervisor.say("To sign in elsewhere: loopwatch login-link")
    except DatabaseError as fault:  # an outage now: the children go on, and so does `up`
        supervisor.say(f"No login link was made ({fault}); loopwatch login-link makes one.")
    finally:
        connections.close_all()


def _is_healthy(host: str, port: int) -> bool:
    link = http.client.HTTPConnection(address.reachable(host).strip("[]"), port, timeout=2)
    try:
        link.request("GET", "/health/", headers={"Host": "localhost"})
        return link.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        link.close()
