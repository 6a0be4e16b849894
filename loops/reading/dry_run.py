"""A dry run's result as the page shows it."""

from __future__ import annotations

import shlex

from loops.configuration import AgentConfig, SessionConfig
from loops.engine.values import AskHuman, Pattern
from loops.pages.new_session import DryRunPart
from loops.pages.states import PATTERN_WORDS
from loops.rehearsal import Rehearsal, in_words
from tracker.pages.words import duration, plural

Rows = tuple[tuple[str, str], ...]


def dry_run_part(found: Rehearsal) -> DryRunPart:
    rule, first = in_words(found)
    turn = found.turn
    script = found.config.script if found.config.done_mode != "agent" else ""
    return DryRunPart(
        first=first,
        rule=rule,
        asks=found.first.question if isinstance(found.first, AskHuman) else "",
        reader=f"{turn.role.value} {turn.agent}".strip() if turn else "",
        prompt=found.prompt,
        roles=_roles(found.config),
        settings=_settings(found.config),
        note="The script was not run: if the base passes it, the session ends at once."
        if script
        else "",
    )


def _roles(config: SessionConfig) -> Rows:
    roles = [(role.capitalize(), _agent(agent)) for role, agent in config.agents.items()]
    pool = [(f"Worker {one.name}", _agent(one.agent)) for one in config.pool]
    verifiers = [
        (f"Verifier {one.name}, {_policy(one.policy, one.mechanical)}", _agent(one.agent))
        for one in config.verifiers
    ]
    return (*roles, *pool, *verifiers)


def _policy(policy: str, mechanical: bool) -> str:
    return f"{policy}, mechanical" if mechanical else policy


def _agent(agent: AgentConfig) -> str:
    """The command only: values of the environment may be private."""
    if agent.adapter == "command":
        return shlex.join(agent.argv)
    return " ".join(filter(None, (agent.adapter, agent.model, shlex.join(agent.argv))))


def _settings(config: SessionConfig) -> Rows:
    limits = config.limits
    tokens = "none" if limits.tokens is None else f"{limits.tokens:,}"
    money = "none" if limits.money is None else f"${limits.money:,.2f}"
    return (
        ("Pattern", PATTERN_WORDS[Pattern(config.pattern)]),
        *_of_pattern(config),
        ("Asks before", ", ".join(config.gates) or "no role"),
        ("Limit of iterations", f"{limits.iterations:,}"),
        ("Limit of time", duration(limits.wall_seconds)),
        ("Without a change", f"{limits.no_progress} in a row"),
        ("Limit of tokens", tokens),
        ("Limit of money", money),
    )


def _of_pattern(config: SessionConfig) -> Rows:
    again = ("Second opinions", f"{config.reverifications} for each attempt")
    match Pattern(config.pattern):
        case Pattern.SINGLE_THREAD:
            script = (("Script", config.script),) if config.script else ()
            return (
                ("Review", f"after {plural(config.review_every, 'work turn')}"),
                ("Coach", f"after {plural(config.coach_every, 'worker turn')}"),
                ("Done mode", config.done_mode),
                *script,
            )
        case Pattern.MAKER_VERIFIER:
            return (("Attempts", str(config.attempts)), again)
        case Pattern.FEEDBACK:
            return (
                ("Retries", str(config.retries)),
                ("Reassigns", str(config.reassigns)),
                ("Replans", str(config.replans)),
                ("Thinks again", str(config.self_calls)),
                ("Counters", "anew under each plan and worker" if config.nested else "global"),
                again,
            )
