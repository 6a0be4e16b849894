"""The page of one agent, new or there."""

from __future__ import annotations

from pathlib import Path

from loops import programs
from loops.adapters import KINDS, Kind
from loops.agent_forms import AgentForm
from loops.models import Agent
from loops.pages.settings import AdapterChoice, AgentPage
from loops.reading import links
from loops.reading.agents import program_words, uses
from loops.reading.confined import confined
from loops.reading.trials import tried
from loops.trying import is_built_in
from tracker.pages.atoms import Link

CRUMBS = (Link("Settings", links.AGENTS), Link("Agents", links.AGENTS))


def new_agent_page(form: AgentForm, back: str) -> AgentPage:
    return AgentPage(
        form=form,
        post=links.NEW_AGENT,
        crumbs=CRUMBS,
        adapters=adapters(),
        back=back,
        confined=confined(form.adapter_now),
    )


def agent_page(agent: Agent, form: AgentForm, *, back: str, asks: bool = False) -> AgentPage:
    return AgentPage(
        form=form,
        post=links.agent(agent.name),
        crumbs=CRUMBS,
        adapters=adapters(),
        name=agent.name,
        back=back,
        tried=tried(agent),
        try_post="" if is_built_in(agent) else links.try_agent(agent.name),
        confined=confined(agent.adapter),
        used=uses([agent]).get(agent.name, ""),
        remove=f"{links.agent(agent.name)}remove/",
        asks=asks,
    )


def adapters() -> tuple[AdapterChoice, ...]:
    """CLIs that are here first; what is not can be chosen all the same."""
    found = programs.known()
    every = []
    for kind in KINDS.values():
        program = found.get(kind.name)
        words = program_words(kind.name, program) if kind.is_cli else _SAID[kind.name]
        is_there = not kind.is_cli or bool(program and program.path)
        every.append(AdapterChoice(
            name=kind.name, word=kind.word, found=words, is_there=is_there,
            logins=", ".join(f"~/{one}" for one in kind.logins),
        ))  # fmt: skip
    return tuple(every)


_SAID = {
    "openai": "vLLM, Ollama, LiteLLM, any chat API",
    "anthropic": "Anthropic’s own API",
    "command": "a script, aider, mini-swe-agent",
}


def logins_there(kind: Kind) -> tuple[str, ...]:
    """Sign-in files of the kind that the person who runs Loopwatch has."""
    return tuple(one for one in kind.logins if (Path.home() / one).is_file())
