"""The real equipment of a session: its folders, its clone, its agents, its socket."""

from __future__ import annotations

import fcntl
import os
import secrets as randomness
import shutil
import tempfile
import time
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings

from loops import configuration, keeping, players, repair
from loops.agent_settings import ENDPOINTS
from loops.agents.base import Call, Control, Reply
from loops.done_script import DoneScript
from loops.engine.values import DoneMode, Fault, Role
from loops.equipment import Work
from loops.folders import Folders, confine_for, hidden_from
from loops.interface import Collected, Context, Interface, install
from loops.leases import LeaseLost
from loops.models import Session
from loops.sight import Sight, scope_of
from loops.workspaces import Base, Unusable, Workspace
from loops.workspaces import preflight as look_at
from tracker import services as tracker
from tracker.models import Project

LONGEST_SOCKET_PATH = 106  # bytes; the kernel's address structure holds no more
LOCK_SECONDS = 3.0
PREPARE_SECONDS = 1800.0


def workspace_of(session: Session) -> Workspace:
    project, folders = session.project, Folders.of(session)
    is_fork = session.forked_from_id is not None
    return Workspace(
        folders.store,
        folders.clone,
        Path(project.repo_path),
        session.ref,
        project.subpath,
        tuple(project.extra_paths),
        tuple(project.accepted_leftovers),
        confine=confine_for(project),
        base=session.base_head if is_fork else "",
        tree=session.base_rev if is_fork else "",
    )


def lacks(session: Session, rev: str, head: str) -> str:
    """A sentence if a recorded tree of the session cannot be gone on from, else ""."""
    if not Folders.of(session).store.is_dir():
        return "The project's store of recorded trees is not there."
    try:
        return workspace_of(session).lacks(rev, head)
    except Unusable as fault:
        return str(fault)


def preflight(project: Project, *, scratch: str) -> dict[str, Any]:
    """What a start will find in the source repository; plain values for a session's row. scratch:
    name of a folder that nobody else uses meanwhile."""
    found = look_at(
        Path(project.repo_path),
        project.subpath,
        project.prepare,
        project.check_command,
        scratch=Path(settings.DATA) / "preflight" / scratch,
        confine=confine_for(project),
        leftovers=tuple(project.accepted_leftovers),
    )
    return asdict(found)


def equip(session: Session) -> Stage:
    return Stage(session)


class Stage:
    """Used by one thread under one lease. Holds a file lock: whoever else may think that the
    session is theirs, two processes never touch one clone."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.config = configuration.parse(session.config)
        self.folders = Folders.of(session)
        self.workspace = workspace_of(session)
        self._hidden = hidden_from(session.project)
        self._keeper = keeping.Keeper(session, self.workspace)
        self._lock: int | None = None
        self._socket_dir: Path | None = None
        self._token = ""
        self._secret_env: dict[str, str] = {}
        self._withheld: tuple[str, ...] = ()
        self._conversations = players.Conversations(self.folders.root / "conversations")

    def open(self) -> Base:
        self.folders.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._take_lock()
        self._move_in()
        base = self.workspace.open()
        install(self.folders.root / "bin")
        if self.config.done_mode != DoneMode.AGENT.value:
            self._script().keep(self.folders.clone / self.session.project.subpath)
        if self.session.project.prepare:
            self._prepare()
        return base

    def _take_lock(self) -> None:
        """Raises LeaseLost when a process that lost its lease has not let go yet: the clock, which
        may be the one that waits, comes again."""
        self._lock = os.open(self.folders.root / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise LeaseLost from None
                time.sleep(0.05)

    def _move_in(self) -> None:
        """A session that came from another host gets a clone here; what an earlier stay left is
        set aside, for it is older."""
        stay = self.folders.root / "stay"
        arrived = stay.read_text() if stay.exists() else "0"
        if arrived == str(self.session.host_moves):
            return
        aside = self.folders.root / f"left-{arrived}"
        for name in ("clone", "engine", "prepare", "script"):
            if (self.folders.root / name).exists():
                aside.mkdir(exist_ok=True)
                shutil.rmtree(aside / name, ignore_errors=True)
                (self.folders.root / name).rename(aside / name)
        keeping.bring(self.session, self.workspace)
        if self.session.base_rev and self.config.done_mode != DoneMode.AGENT.value:
            self._keep_first_script()
        stay.write_text(str(self.session.host_moves))

    def _keep_first_script(self) -> None:
        """From the base, as at the start: agents may have changed it since."""
        script, first = self._script(), self.folders.root / "first"
        shutil.rmtree(first, ignore_errors=True)
        self.workspace.lay_out(self.session.base_rev, script.words(), first)
        script.keep(first / self.session.project.subpath)
        shutil.rmtree(first, ignore_errors=True)

    def keep(self, number: int) -> None:
        self._keeper.keep(number)

    def _prepare(self) -> None:
        ran = self.workspace.prepare(self.session.project.prepare, PREPARE_SECONDS)
        if not ran.passed:
            raise Unusable(
                f"The project's prepare command failed in the session's clone "
                f"(exit code {ran.exit_code}): {ran.tail}"
            )

    def close(self) -> None:
        if self._socket_dir is not None:
            shutil.rmtree(self._socket_dir, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)

    # --- one call ----------------------------------------------------------------------------

    def reveal(self, role: Role, agent: str) -> tuple[str, ...]:
        """Every call has its own token; a secret is decrypted for the call that needs it."""
        self._token = randomness.token_urlsafe(32)
        self._secret_env, self._withheld = players.secret_values(self.config.agent(role, agent))
        return (self._token, *self._secret_env.values(), *self._withheld)

    def perform(self, work: Work, sight: Sight, control: Control) -> tuple[Reply, Collected]:
        """The interface closes before the reply is judged: nothing is written after that."""
        settings = self.config.agent(work.role, work.agent)
        call = self._call(work, settings)
        with Interface(call.socket, call.token, self._context(work, sight)) as interface:
            agent = players.player(settings, self._seat(work, interface))
            reply = agent.run(call, control)
            sentence = repair.missing(work.role, interface.collected())
            if sentence and reply.fault is None and settings.adapter not in ENDPOINTS:
                again = replace(call, prompt=repair.prompt_again(call.prompt, sentence))
                first, reply = reply, agent.run(again, control)
                reply = replace(reply, usages=(*first.usages, *reply.usages))
        collected = interface.collected()
        if reply.usages:  # what the CLI's own events say, not what the model was told to report
            collected = replace(collected, used=players.used(reply.usages, settings))
        sentence = repair.missing(work.role, collected)
        if sentence and reply.fault is None:
            reply = replace(reply, fault=Fault.UNPARSEABLE, detail=sentence)
        return reply, collected

    def _seat(self, work: Work, interface: Interface) -> players.Seat:
        resume = self._conversations.last(_player(work)) if work.repeats else ""
        return players.Seat(
            role=work.role,
            command=self.folders.root / "bin" / "loopwatch",
            resume=resume,
            remember=partial(self._conversations.keep, _player(work)),
            hand_in=interface.hand_in,
        )

    def _call(self, work: Work, agent: configuration.AgentConfig) -> Call:
        project = self.session.project
        directory = self._sockets()
        places = self.folders.places(_player(work), project.subpath, directory, self._hidden)
        path = f"{self.folders.root / 'bin'}:{os.environ.get('PATH', os.defpath)}"
        return Call(
            session=self.session.pk,
            iteration=work.number,
            role=work.role,
            prompt=work.prompt,
            places=places,
            socket=directory / "s",
            token=self._token,
            mark=f"{work.reference}-{randomness.token_hex(8)}",
            wall_seconds=agent.wall_seconds,
            silence_seconds=agent.silence_seconds,
            memory_mb=agent.memory_mb,
            env={"PATH": path, **agent.env},
            secrets=self._secret_env,
            withheld=self._withheld,
        )

    def _sockets(self) -> Path:
        """A folder that holds the socket and nothing else, with a path short enough for one."""
        if self._socket_dir is None:
            wanted = self.folders.root / "socket"
            if len(os.fsencode(wanted / "s")) <= LONGEST_SOCKET_PATH:
                wanted.mkdir(mode=0o700, exist_ok=True)
                self._socket_dir = wanted
            else:
                self._socket_dir = Path(tempfile.mkdtemp(prefix="loopwatch-"))
        return self._socket_dir

    def _context(self, work: Work, sight: Sight) -> Context:
        project, ref = self.session.project, self.session.ref
        return Context(
            project=project,
            scope=scope_of(self.session),
            session_ref=ref,
            reference=work.reference,
            role=work.role,
            by=tracker.agent(project, work.role.value, ref, work.reference),
            head=self.workspace.head,
            blob=self.workspace.blob,
            is_missing=lambda commit: commit in sight.absent,
            goal=sight.goal(project),
            pool=tuple(worker.name for worker in self.config.pool),
            criteria=work.criteria,
            withheld=(*self._secret_env.values(), *self._withheld),
        )

    # --- the done script ---------------------------------------------------------------------

    def run_script(self, control: Control) -> int | None:
        """None where done signals decide alone (done mode agent)."""
        if self.config.done_mode == DoneMode.AGENT.value:
            return None
        subpath = self.session.project.subpath
        places = self.folders.places(Role.WORKER.value, subpath, self._sockets(), self._hidden)
        return self._script().run(places, control)

    def _script(self) -> DoneScript:
        kept = self.folders.root / "script"
        return DoneScript(self.config.script, kept, self.session.ref, self.config.script_seconds)


def _player(work: Work) -> str:
    return f"{work.role.value}-{work.agent}".rstrip("-")
