"""How far a judge stands from who it judges, by what is known of their models (RULES 3)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum

from loops.adapters import KINDS
from loops.agent_settings import AgentConfig
from loops.configuration import SessionConfig
from loops.engine.values import Pattern
from tracker.errors import Invalid

# By how the last part of a model's name begins; the first that fits.
_FAMILIES = {
    "claude": ("claude", "opus", "sonnet", "haiku", "fable", "mythos"),
    "gpt": ("gpt", "chatgpt", "codex", "o1", "o3", "o4"),
    "gemini": ("gemini", "gemma"),
    "qwen": ("qwen", "qwq"),
    "mistral": ("mistral", "mixtral", "codestral", "devstral", "ministral", "magistral", "pixtral"),
    "llama": ("llama", "meta-llama"),
    "deepseek": ("deepseek",),
    "grok": ("grok",),
    "glm": ("glm", "chatglm"),
    "kimi": ("kimi", "moonshot"),
    "phi": ("phi",),
    "nova": ("nova",),
    "command": ("command",),
    "minimax": ("minimax",),
    "nemotron": ("nemotron",),
    "granite": ("granite",),
}
_OF_VENDOR = {"anthropic": "claude", "openai": "gpt", "google": "gemini", "qwen": "qwen"}


class Grade(StrEnum):
    """From the strongest to the weakest. UNKNOWN: nobody said which models these are."""

    MECHANICAL = "mechanical"
    OTHER_FAMILY = "other_family"
    UNKNOWN = "unknown"
    SAME_FAMILY = "same_family"
    SAME_MODEL = "same_model"


ORDER = tuple(Grade)


@dataclass(frozen=True, slots=True)
class Mind:
    """What thinks behind an agent. model: "" = not said; family: "" = not known. agent: what the
    settings are, to tell that two are one agent where no model is said. is_command: one
    program may be many."""

    model: str = ""
    family: str = ""
    agent: str = ""
    is_command: bool = False

    @property
    def words(self) -> str:
        return self.model or (f"{self.family}, its default" if self.family else "model not said")


def family(model: str) -> str:
    """ "anthropic/claude-opus-4-8" -> "claude"; "" where the table has none."""
    name = _name(model)
    for word, starts in _FAMILIES.items():
        # "us.anthropic.claude-..." of some clouds begins with where it is served
        if any(re.search(rf"(?:^|\.){re.escape(start)}(?![a-z])", name) for start in starts):
            return word
    return ""


def mind(agent: AgentConfig) -> Mind:
    model = agent.model.strip()
    known = family(model) if model else _OF_VENDOR.get(KINDS[agent.adapter].vendor, "")
    if not model and agent.base_url:
        known = ""  # whatever that address serves
    settings = json.dumps(agent.model_dump(mode="json"), sort_keys=True)
    return Mind(model, known, settings, is_command=agent.adapter == "command")


def grade(maker: Mind, judge: Mind) -> Grade:
    if maker.agent and maker.agent == judge.agent and not maker.is_command:
        return Grade.SAME_MODEL
    if maker.model and judge.model:
        if _name(maker.model) == _name(judge.model):
            return Grade.SAME_MODEL
    elif not (maker.model or judge.model) and maker.family and maker.family == judge.family:
        return Grade.SAME_MODEL  # both run their vendor's default
    if not (maker.family and judge.family):
        return Grade.UNKNOWN
    return Grade.SAME_FAMILY if maker.family == judge.family else Grade.OTHER_FAMILY


def _name(model: str) -> str:
    """Without where it is served: "openrouter/anthropic/claude-opus" is claude-opus."""
    return model.strip().lower().rpartition("/")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A judge over one of those that it judges."""

    maker: str
    judge: str
    made_by: Mind
    judged_by: Mind
    grade: Grade


def pairs(config: SessionConfig) -> tuple[Pair, ...]:
    """Every judge of a session over everyone that it judges."""
    makers, judges = _makers(config), _judges(config)
    return tuple(
        Pair(
            maker=maker,
            judge=judge,
            made_by=made_by,
            judged_by=judged_by,
            grade=Grade.MECHANICAL if measures else grade(made_by, judged_by),
        )
        for judge, judged_by, measures in judges
        for maker, made_by in makers
    )


def _makers(config: SessionConfig) -> list[tuple[str, Mind]]:
    one = {role: agent for role, agent in config.agents.items() if role in ("worker", "maker")}
    pool = [(f"worker {member.name}", mind(member.agent)) for member in config.pool]
    return [(role, mind(agent)) for role, agent in one.items()] + pool


def _judges(config: SessionConfig) -> list[tuple[str, Mind, bool]]:
    if config.pattern == Pattern.SINGLE_THREAD.value:
        reviewer = config.agents.get("reviewer")
        return [("reviewer", mind(reviewer), False)] if reviewer else []
    return [(f"verifier {one.name}", mind(one.agent), one.mechanical) for one in config.verifiers]


def refuse_own_judges(config: SessionConfig) -> None:
    """A verifier that runs its maker's model is refused unless the configuration says that this is
    known (RULES 3). Raises Invalid."""
    if config.judges_itself or config.pattern == Pattern.SINGLE_THREAD.value:
        return
    for pair in pairs(config):
        if pair.grade is Grade.SAME_MODEL:
            raise Invalid(
                f"{pair.judge.capitalize()} runs the same model as {pair.maker} "
                f"({pair.judged_by.words}): it would judge itself. Choose another model, or say "
                "that you know it (judges_itself)."
            )
