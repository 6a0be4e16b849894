"""A small world in memory for the runner: files, commits and agents that are Python functions.

Everything that is Loopwatch's own is real here: database, engine, tracker, verbs of the agents'
interface. Only git and processes are replaced, so that thousands of loops run in seconds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from loops import repair
from loops.agents.base import Control, Reply
from loops.engine.values import Fault, Role
from loops.equipment import Work
from loops.interface import Collected, Collector, Context, dispatch
from loops.models import Session
from loops.sight import Sight, scope_of
from loops.workspaces import Base, Boundary, Tree
from tracker import services as tracker

Files = dict[str, str]


def _hash(value: object) -> str:
    return hashlib.sha1(json.dumps(value, sort_keys=True).encode()).hexdigest()


@dataclass
class MemoryWorkspace:
    """`files` is the work tree; a commit is (parent, files). Survives a simulated kill."""

    files: Files = field(default_factory=lambda: {"a.txt": "one"})
    commits: dict[str, tuple[str, Files]] = field(default_factory=dict)
    head: str = ""
    trees: dict[str, Files] = field(default_factory=dict)
    moved: Files = field(default_factory=dict)

    def commit(self) -> str:
        name = _hash([self.head, self.files])
        self.commits[name] = (self.head, dict(self.files))
        self.head = name
        return name

    def open(self) -> Base:
        if not self.commits:
            self.commit()
        tree = self.stamp()
        return Base(rev=tree.rev, head=tree.head)

    def stamp(self) -> Tree:
        rev = _hash(self.files)
        self.trees[rev] = dict(self.files)
        return Tree(rev=rev, head=self.head)

    def boundary(self, before: Tree, *, number: int, may_change: bool, done_signalled: bool):
        notes: tuple[str, ...] = ()
        spoiled: tuple[str, ...] = ()
        old = self.trees[before.rev]
        if not may_change and (self.files != old or self.head != before.head):
            self.files, self.head = dict(old), before.head
            notes = ("Changes of this role were reverted.",)
            spoiled = ("a.txt",)
        committed = self.commits[self.head][1]
        fresh = {p for p in self.files if p not in old and p not in committed}
        if done_signalled:
            for path in fresh:
                self.moved[path] = self.files.pop(path)
        tree = self.stamp()
        changed = sorted(p for p in {*old, *self.files} if old.get(p) != self.files.get(p))
        open_paths = sorted(
            p for p in {*committed, *self.files} if committed.get(p) != self.files.get(p)
        )
        return Boundary(
            rev=tree.rev,
            head=tree.head,
            uncommitted=tuple(open_paths),
            changed_paths=tuple(changed),
            moved=tuple(sorted(fresh)) if done_signalled else (),
            restored=(),
            spoiled=spoiled,
            notes=notes,
        )

    def go_to(self, tree: Tree) -> None:
        self.files, self.head = dict(self.trees[tree.rev]), tree.head

    def added_and_changed(self, a_rev: str, b_rev: str):
        a, b = self.trees[a_rev], self.trees[b_rev]
        added = tuple(sorted(b.keys() - a.keys()))
        return added, tuple(sorted(p for p in a if a.get(p) != b.get(p)))

    def diff(self, a_rev: str, b_rev: str) -> str:
        return json.dumps([self.trees[a_rev], self.trees[b_rev]])

    def missing(self, commits: Iterable[str], head: str) -> frozenset[str]:
        reachable = set()
        while head:
            reachable.add(head)
            head = self.commits[head][0]
        return frozenset(c for c in commits if c not in reachable)

    def blob(self, path: str) -> str:
        return _hash(self.files[path]) if path in self.files else ""


@dataclass
class Tools:
    """What a behaviour in memory works with."""

    workspace: MemoryWorkspace
    context: Context
    collector: Collector
    role: Role
    memory: dict
    control: Control

    def loopwatch(self, *argv: str, stdin: str = ""):
        answer = dispatch(self.context, self.collector, list(argv), stdin)
        return answer.code, answer.out, answer.err

    def entries(self, *argv: str) -> list[dict]:
        return json.loads(self.loopwatch("bug", "list", "--json", *argv)[1])


Behaviour = Callable[[Tools], Reply | None]


@dataclass
class World:
    """Equipment for one session; the same object outlives simulated kills, like a disk."""

    behaviours: dict[Role | str, Behaviour]  # by role, or by the agent's name
    workspace: MemoryWorkspace = field(default_factory=MemoryWorkspace)
    memory: dict = field(default_factory=dict)
    script: Callable[[MemoryWorkspace], int] | None = None
    alive: int = 0
    most_alive: int = 0
    calls: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)

    def __call__(self, session: Session) -> World:
        self.session = session
        return self

    def open(self) -> Base:
        return self.workspace.open()

    def close(self) -> None:
        pass

    def reveal(self, role: Role, agent: str) -> tuple[str, ...]:
        return ()

    def keep(self, number: int) -> None:
        pass

    def run_script(self, control: Control) -> int | None:
        return None if self.script is None else self.script(self.workspace)

    def perform(self, work: Work, sight: Sight, control: Control) -> tuple[Reply, Collected]:
        collector = Collector()
        context = Context(
            project=self.session.project,
            scope=scope_of(self.session),
            session_ref=self.session.ref,
            reference=work.reference,
            role=work.role,
            by=tracker.agent(
                self.session.project, work.role.value, self.session.ref, work.reference
            ),
            head=lambda: self.workspace.head,
            blob=self.workspace.blob,
            goal=sight.goal(self.session.project),
            pool=tuple(worker["name"] for worker in self.session.config.get("pool", ())),
            criteria=work.criteria,
        )
        tools = Tools(self.workspace, context, collector, work.role, self.memory, control)
        self.prompts.append(work.prompt)
        self.calls.append(f"{work.number}:{work.agent or work.role.value}")
        self.alive += 1
        self.most_alive = max(self.alive, self.most_alive)
        try:
            reply = self.behaviours.get(work.agent, self.behaviours.get(work.role))(tools)
        finally:
            self.alive -= 1
        collected = collector.collected()
        sentence = repair.missing(work.role, collected)
        if reply is None and sentence:
            reply = Reply(fault=Fault.UNPARSEABLE, detail=sentence)
        return reply or Reply(exit_code=0), collected
