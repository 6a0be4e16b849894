"""What a session sees of its tracker and tree; read again only when one of them moved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from loops import proof
from loops.engine.background import Artefact
from loops.engine.values import Stamp
from loops.models import Session
from loops.workspaces import Tree, Workspace
from tracker.engine.citations import path_of
from tracker.facts import Facts, facts
from tracker.models import Project
from tracker.scope import Scope

LONGEST_DIFF = 256 * 1024  # characters; a verifier reads the rest in the tree itself


def scope_of(session: Session) -> Scope:
    return Scope.from_json(session.scope)


@dataclass
class Sight:
    """Facts of the tracker are cheap and may be read inside a transaction; what needs git
    (`absent`, `blobs`) is learnt outside one, by look()."""

    session: Session
    workspace: Workspace
    tree: Tree = field(default_factory=lambda: Tree(rev="", head=""))
    absent: frozenset[str] = frozenset()  # commits that are not in HEAD, by id or patch-id
    blobs: dict[str, str] = field(default_factory=dict)  # of the files that marks cite
    _facts: Facts | None = None
    artefact: Artefact | None = None  # what a verifier judges
    materials: Any = None  # what prompts are made of, kept by briefing while nothing moved
    _read_at: tuple[int, int] = (-1, 0)
    _seen: tuple[object, ...] = ()

    def look(self, project: Project, tree: Tree) -> None:
        """Learn what the tree says of fixes and marks. Runs git: never inside a transaction."""
        self.tree = tree
        now = self.facts(project)
        seen = (self._read_at, tree.rev, tree.head)
        if seen == self._seen:
            return
        absent = self.workspace.missing([fix.commit for fix in now.fixes], tree.head)
        if absent != self.absent:
            self.absent, self.materials = absent, None
        self.blobs = {
            path: self.workspace.blob(path) for path in {path_of(m.place) for m in now.marks}
        }
        self._seen = seen

    def show(self, base: Tree) -> None:
        """Learn how the tree differs from the base, for a verifier. Runs git, like look()."""
        tree = self.tree
        if self.artefact is not None and self.artefact.rev == tree.rev:
            return
        added, changed = self.workspace.added_and_changed(base.rev, tree.rev)
        self.artefact = Artefact(
            rev=tree.rev,
            head=tree.head,
            base_head=base.head,
            changed_paths=(*added, *changed),
            diff=self.workspace.diff(base.rev, tree.rev)[:LONGEST_DIFF],
        )

    def facts(self, project: Project) -> Facts:
        """The tracker's facts as of the project's row, which was read or locked just now."""
        state = (project.tracker_seq, project.write_mark)
        if self._facts is None or self._read_at != state:
            self._facts = facts(project, scope_of(self.session), self.session.ref)
            self._read_at = state
            self.materials = None
        return self._facts

    def goal(self, project: Project) -> str:
        """Key of the requirement that the session owns, "" if it has none."""
        if not self.session.goal:
            return ""
        own = project.requirements.filter(session_ref=self.session.ref).first()
        return own.key if own else ""

    def stamp(self, project: Project) -> Stamp:
        now = self.facts(project)
        return Stamp(rev=self.tree.rev, head=self.tree.head, spec=now.spec, tracker_seq=now.seq)

    def unjudged(self, project: Project) -> tuple[str, ...]:
        """FIXED and STALE entries, and this session's fixes whose commit is not in HEAD."""
        now = self.facts(project)
        lost = proof.lost_fixes(now, self.absent.__contains__)
        return tuple(dict.fromkeys([*now.unjudged, *lost]))

    def marks_missing(self, project: Project) -> tuple[str, ...]:
        """Requirements that a clean review still has to mark; none where marks only advise.

        A mark added since look() counts as missing: its file was not looked at here."""
        if project.has_advisory_marks:
            return ()
        return proof.missing_marks(self.facts(project), lambda path: self.blobs.get(path, ""))
