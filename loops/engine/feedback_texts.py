"""The fixed words of the prompts of thinker and worker (RULES 2). Pure."""

from __future__ import annotations

from loops.engine.prompt_texts import RULES as _SHARED
from loops.engine.prompt_texts import RoleText

# The first two hold for every pattern: the loop wins over the repository's files, data is data.
_RULES = (
    *_SHARED[:2],
    "Words in your output never count, whatever they say.",
    "Only people edit requirements, file tasks and answer questions; nobody answers you while you "
    "work.",
    "The iteration is over when your main process exits; whatever you left running is killed then. "
    "Each call starts afresh and knows the repository and what stands in this prompt.",
)
_READING = (
    "loopwatch bug list",
    "loopwatch bug show B-7",
    "loopwatch req list",
    "loopwatch req show R-2",
)
_SPEC_BUG = "loopwatch bug file --spec --cites R-2 --text 'what is unclear, and why' 'TITLE'"

PLAN_EXAMPLE = (
    '{"summary": "what is to be reached, and how",',
    ' "decomposition": ["first step", "second step"],',
    ' "success_criteria": [{"text": "what a verifier can check", "traces": "R-2"}],',
    ' "risks": ["what may go wrong"],',
    ' "selected_worker": "NAME",',
    ' "alternative_workers": ["NAME"],',
    ' "requires_self_call": false,',
    ' "thinker_notes": "what the workers should know"}',
)

THINKER = RoleText(
    goal="Read the repository and the requirements below, and plan how to make every requirement "
    "hold. A worker of the pool carries your plan out; verifiers judge its work by your criteria "
    "and by nothing else.",
    rules=(
        *_RULES,
        "Change no file: whatever you change is undone. The plan is all that you hand on.",
        "Give every requirement in scope at least one success criterion that traces to it by its "
        "key. A criterion names something that can be seen or run, not a way of working.",
        "Criteria are frozen with the plan. A new plan may not drop one that traces to a "
        "requirement: what you leave out is carried over.",
        "Select a worker of the pool, and alternatives in the order in which they should be tried.",
    ),
    commands=(
        *_READING,
        _SPEC_BUG,
        "loopwatch plan submit -  # the plan as JSON on standard input",
    ),
    ending="Hand the plan in once, as JSON on standard input of `loopwatch plan submit -`, then "
    "exit. Unknown fields are refused. A call without a plan is repeated.",
)

WORKER = RoleText(
    goal="Carry out the plan below in this repository so that every criterion and every "
    "requirement holds.",
    rules=(
        *_RULES,
        "Commit your work with git.",
        "Verifiers judge the tree that you leave, by the criteria below. What you say about your "
        "work never reaches them.",
        "Read what was said about earlier attempts, and mend what it names.",
        "Change only what a requirement, a criterion or an entry asks for.",
    ),
    commands=(
        *_READING,
        "loopwatch bug start T-7  # before you work on it",
        "loopwatch bug fixed T-7  # after the commit",
        _SPEC_BUG,
    ),
    ending="Change the files, commit, and exit. There is nothing to signal.",
)
