"""One question with the evidence that a person decides on, and the decision once there is one."""

from __future__ import annotations

from django.utils import timezone

from escalations.forms import DecisionForm
from escalations.models import Escalation, Status
from escalations.pages.queue import Decided, Draft, QuestionPart, RequirementText
from escalations.reading import queue, words
from escalations.reading.decision import decision_form, options
from loops.engine.values import Choice, Kind
from loops.models import Answer
from loops.pages.judging import Matrix
from loops.pages.output import DiffPart, LogPart
from loops.reading import changes, lines, links, proof
from loops.reading.attempts import Attempt
from loops.reading.budgets import spent
from loops.reading.head import title
from loops.reading.iterations import most
from loops.reading.matrix import matrix_part
from loops.reading.reading import Reading
from loops.reading.standing import attempts_left
from tracker import services as tracker
from tracker.engine.citations import lines_of
from tracker.errors import DomainError
from tracker.models import Bug
from tracker.pages.atoms import Link
from tracker.pages.words import moment, plural

LINES_SHOWN = 30
LINES_OF_ENTRY = 8
REQUIREMENTS_SHOWN = 6
SHORT = 7
ON_AN_ATTEMPT = frozenset(
    {Kind.UNCERTAIN, Kind.VERIFIER_CONFLICT, Kind.EXHAUSTED, Kind.CEILING, Kind.SPEC_CHANGED}
)


def question_part(
    escalation: Escalation,
    reading: Reading,
    *,
    may_decide: bool,
    form: DecisionForm | None = None,
    amend: str = "",
) -> QuestionPart:
    """form: one that was refused, shown again. amend: requirement whose text to put in the form.
    may_decide: False for viewers, who see the same evidence and no form."""
    diff = result_of(escalation, reading)
    is_open = escalation.status == Status.OPEN.value
    entry = _entry(escalation)
    offered = options(escalation, reading, is_shown=is_shown(diff)) if is_open else ()
    if is_open and may_decide and form is None:
        form = decision_form(escalation, reading, offered, amend=amend)
    return QuestionPart(
        ref=str(escalation),
        kind=words.kind(escalation),
        question=escalation.question,
        why=words.why(escalation),
        effect=words.effect(escalation),
        session=Link(
            f"{reading.session.ref} {title(reading.session)}", links.session(reading.session.pk)
        ),
        meta=_meta(escalation, reading),
        waited=queue.waited_chip(escalation, reading.now),
        version=escalation.version,
        post=f"{queue.HREF}{escalation.pk}/decide/",
        options=offered,
        form=form if is_open and may_decide else None,
        checks=proof.reasons(reading) if is_open else (),
        entry=_entry_link(reading, entry),
        entry_text=_entry_text(entry),
        matrix=_matrix(escalation, reading),
        shown=_shown(escalation, reading),
        diff=diff,
        requirements=_requirements(reading, entry),
        log=_log(reading),
        decided=None if is_open else decided_part(escalation, reading),
    )


def result_of(escalation: Escalation, reading: Reading) -> DiffPart | None:
    """What an approval would approve, against the base; None when nothing was changed."""
    if not escalation.evidence:
        return None
    session = reading.session
    return changes.diff_of(
        session, session.base_rev, escalation.evidence, f"base {session.base_head[:SHORT]}"
    )


def _matrix(escalation: Escalation, reading: Reading) -> Matrix | None:
    """Verifiers by attempts, for questions about an attempt."""
    if Kind(escalation.kind) not in ON_AN_ATTEMPT:
        return None
    return matrix_part(reading, escalation.evidence)


def _asked(escalation: Escalation, reading: Reading) -> Attempt | None:
    """The attempt whose tree the question is about."""
    rev = escalation.evidence
    return next((one for one in reversed(reading.attempts) if rev and one.rev == rev), None)


def _shown(escalation: Escalation, reading: Reading) -> str:
    attempt = _asked(escalation, reading)
    if attempt is None:
        return ""
    return (
        f"Attempt {attempt.number} by {attempt.by}" if attempt.by else f"Attempt {attempt.number}"
    )


def is_shown(diff: DiffPart | None) -> bool:
    return diff is not None and bool(diff.files)


def _meta(escalation: Escalation, reading: Reading) -> tuple[str, ...]:
    opened = moment(reading.local(escalation.created_at), reading.now)
    facts = [
        reading.project.name,
        *_attempt_facts(reading),
        f"iteration {reading.session.iteration_count} of {most(reading)}",
        f"cost {spent(reading)}",
        f"opened {opened}",
    ]
    if escalation.count > 1:
        facts.append(f"asked {escalation.count} times")
    return tuple(facts)


def _attempt_facts(reading: Reading) -> tuple[str, ...]:
    left = attempts_left(reading)
    if left is None:
        return ()
    return (f"{plural(len(reading.attempts), 'attempt')}, at most {left} more",)


def _entry(escalation: Escalation) -> Bug | None:
    if not escalation.subject:
        return None
    try:
        return tracker.get_bug(escalation.session.project, escalation.subject)
    except DomainError:
        return None


def _entry_link(reading: Reading, entry: Bug | None) -> Link | None:
    if entry is None:
        return None
    return Link(f"{entry.key} {entry.title}", links.entry(reading.project, entry.key).href)


def _entry_text(entry: Bug | None) -> str:
    """What it says, and the last words about it: why the worker blocked it, why it was reopened."""
    if entry is None:
        return ""
    said = [f"{move.actor}: {move.note}" for move in tracker.history(entry) if move.note][-3:]
    quote = f"“{entry.quote}”" if entry.quote else ""
    return "\n".join(
        _short(text) for text in (entry.text, quote, entry.contradiction, *said) if text
    )


def _short(text: str) -> str:
    """The beginning of a long text; the tracker's page has all of it."""
    lines = text.splitlines()
    more = [f"… {len(lines) - LINES_OF_ENTRY} more lines"] if len(lines) > LINES_OF_ENTRY else []
    return "\n".join([*lines[:LINES_OF_ENTRY], *more])


def _requirements(reading: Reading, entry: Bug | None) -> tuple[RequirementText, ...]:
    """The cited one alone, else the first of the scope."""
    shown = reading.facts.requirements
    if entry is not None and entry.requirement is not None:
        cited = entry.requirement.key
        shown = tuple(one for one in shown if one.key == cited)
    return tuple(
        RequirementText(
            key=one.key,
            title=one.document,
            version=one.version,
            lines=tuple(
                (f"{one.key}.{number}", line)
                for number, line in enumerate(lines_of(one.text), start=1)
                if line.strip()
            ),
            href=links.requirement(reading.project, one.key).href,
        )
        for one in shown[:REQUIREMENTS_SHOWN]
    )


def _log(reading: Reading) -> LogPart | None:
    """The end of the newest output."""
    newest = reading.newest
    if newest is None:
        return None
    shown = lines.window(newest, most=LINES_SHOWN)
    if not shown.lines:
        return None
    raw = lines.raw_url(newest)
    return LogPart(lines=shown.lines, total=shown.total, after_url="", raw_url=raw)


def decided_part(escalation: Escalation, reading: Reading) -> Decided:
    """The final word; void when the session ended before anybody decided."""
    decision = getattr(escalation, "decision", None)
    at = reading.local(escalation.closed_at) if escalation.closed_at else reading.now
    when = moment(at, reading.now)
    if decision is None:
        ref = reading.session.ref
        return Decided(
            word="", by="", when=when, is_void=True,
            text=f"{ref} ended at {when}, before anybody decided.",
        )  # fmt: skip
    return Decided(
        word=words.CHOICES[Choice(decision.choice)],
        by=str(decision.by),
        when=when,
        text=decision.text,
        taken_up=_taken_up(decision.pk, reading),
        details=words.details(decision),
    )


def _taken_up(decision: int, reading: Reading) -> str:
    answer = Answer.objects.filter(decision=decision).first()
    ref = reading.session.ref
    if answer is None:
        return ""
    if answer.taken_at is None:
        return f"{ref} has not taken it up yet; it does so within seconds."
    at = timezone.localtime(answer.taken_at)
    return f"{ref} took it up at {at:%H:%M:%S}."


def draft_of(form: DecisionForm, escalation: Escalation) -> Draft:
    """What a person was about to decide when somebody was faster."""
    cleaned = getattr(form, "cleaned_data", {})
    choice = Choice(cleaned["choice"])
    text = "\n\n".join(filter(None, (cleaned.get("text", ""), cleaned.get("document", ""))))
    return Draft(
        word=words.CHOICES[choice],
        text=text if choice is Choice.AMEND else cleaned.get("text", ""),
        version=int(cleaned.get("version") or escalation.version),
    )
