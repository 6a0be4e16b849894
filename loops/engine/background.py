"""What the prompts of the patterns with verifiers are made of, beside the folded state. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from loops.engine.prompt_parts import Requirement


@dataclass(frozen=True, slots=True, kw_only=True)
class Artefact:
    """What a verifier judges: the tree, the commit it stands on, and how it differs from the base.

    diff: text, cut to a bounded size. It holds nothing that the maker said about its work.
    """

    rev: str
    head: str
    base_head: str
    changed_paths: tuple[str, ...] = ()
    diff: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """session: "S-3". goal: key of the requirement that the session owns, "" if none. requirements:
    those in scope. tasks: open tasks and code bugs in scope, one line each (thinker, worker,
    maker). check, workdir, instruction_files: as in prompts.PromptInput. artefact: for verifiers.
    """

    session: str
    goal: str = ""
    requirements: tuple[Requirement, ...] = ()
    tasks: tuple[str, ...] = ()
    check: str = ""
    workdir: str = ""
    instruction_files: tuple[str, ...] = ()
    artefact: Artefact | None = None
