"""Every string of up to six verdicts leads where RULES 3 says, by a second reading of the text."""

import pytest

from loops.engine import maker_verifier
from loops.engine.values import AskHuman, Fault, Finish, HumanEvent, Role
from tests.engine.maker_log import (
    FAIL,
    JUDGE,
    OK,
    SECOND_SPARE,
    SPARE,
    UNCERTAIN,
    after,
    config,
    opened,
    report,
)

LONGEST = 6
BLANK = report(FAIL, feedback=" ")
# A verdict, or what happens while a verifier is due.
WORDS = {
    "O": {"report": report(OK)},
    "F": {"report": report(FAIL)},
    "U": {"report": report(UNCERTAIN)},
    "B": {"report": BLANK},  # a rejection without a reason
    "X": {"fault": Fault.CRASH},
}
EDIT = "E"


def by_the_text(string, attempts_allowed, reverifications):
    """Where the loop stands after the verdicts: who or what is due, and the attempt's number."""
    attempt, asked_again, is_outdated = 1, 0, False
    for word in string:
        if word == EDIT:
            is_outdated = True
        elif word == "O":
            return ("ask spec_changed" if is_outdated else "done"), attempt
        elif word == "F":
            if attempt == attempts_allowed:
                return "ask ceiling", attempt
            attempt, asked_again = attempt + 1, 0
        elif asked_again < reverifications:
            asked_again += 1
        else:
            return "ask uncertain", attempt
    return ("judge", "spare", "second spare")[asked_again], attempt


def where(state):
    due = maker_verifier.direct(state)
    if isinstance(due, Finish):
        return due.reason.value, state.attempts
    if isinstance(due, AskHuman):
        return f"ask {due.kind.value}", state.attempts
    return due.agent, state.attempts


def told(state, word):
    """The state after one word, with the next attempt made if one is due."""
    if word == EDIT:
        return maker_verifier.apply(state, HumanEvent(state.seq + 1, "requirement edited", "R-1"))
    return made(after(state, **WORDS[word]))


def made(state):
    due = maker_verifier.direct(state)
    if getattr(due, "role", None) is Role.MAKER:
        return after(state, change=True)
    return state


@pytest.mark.parametrize(
    ("attempts", "budget", "spares"),
    [(1, 0, 0), (1, 2, 2), (2, 1, 1), (3, 0, 2), (3, 1, 2), (4, 2, 1), (6, 2, 2)],
)
def test_every_string_of_verdicts_leads_where_the_text_says(attempts, budget, spares):
    verifiers = (JUDGE, *(SPARE, SECOND_SPARE)[:spares])
    settings = config(attempts=attempts, reverifications=budget, verifiers=verifiers)
    open_ones = {"": made(opened(settings))}
    for _ in range(LONGEST):
        longer = {}
        for string, state in open_ones.items():
            for word in (*WORDS, EDIT):
                now = told(state, word)
                said = string + word
                assert where(now) == by_the_text(said, attempts, min(budget, spares)), said
                if where(now)[0] in ("judge", "spare", "second spare"):
                    longer[said] = now
        open_ones = longer
