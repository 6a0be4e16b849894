"""What a person can do with an entry: the words, the form and the service of each move."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.forms import BaseForm

from tracker import services
from tracker.engine import rules
from tracker.engine.rules import Kind, Party, State, Verb
from tracker.errors import NotFound
from tracker.forms import PriorityForm, QuoteForm, ReasonForm, TextForm, WordsForm
from tracker.models import Bug
from tracker.pages.filing import Effect, EntryMove
from tracker.services import By

Data = Mapping[str, Any]
MakeForm = Callable[[Bug, Data | None, str], BaseForm]


@dataclass(frozen=True, slots=True)
class Offer:
    """One move. slug: last part of its URL. fits: when it is offered beyond what the rules say.

    done: what happened, with the key. why: what it does to entry and loops, before it is sent.
    """

    slug: str
    verb: Verb
    word: str
    icon: str
    button: str
    done: str
    why: Callable[[Bug, Effect], str]
    form: MakeForm
    act: Callable[[Bug, By, Data], Bug]
    fits: Callable[[Bug], bool] = lambda bug: True

    def is_open_to_people(self, bug: Bug) -> bool:
        if not self.fits(bug):
            return False
        if self.verb in rules.RIGHTS:
            return rules.act(self.verb, Party.PERSON, bug.key) is None
        state = rules.move(self.verb, Kind(bug.kind), State(bug.state), Party.PERSON, bug.key)
        return isinstance(state, State)

    def shown(self, bug: Bug, effect: Effect, base: str, form: BaseForm | None) -> EntryMove:
        """form: the one that came back with errors, else None."""
        return EntryMove(
            word=self.word,
            icon=self.icon,
            post=f"{base}{bug.key}/{self.slug}/",
            why=self.why(bug, effect),
            button=self.button.format(bug.key),
            form=form or self.form(bug, None, self.slug),
            is_open=form is not None,
        )


def offers(bug: Bug) -> tuple[Offer, ...]:
    return tuple(offer for offer in OFFERS if offer.is_open_to_people(bug))


def offer(slug: str) -> Offer:
    found = next((one for one in OFFERS if one.slug == slug), None)
    if found is None:
        raise NotFound(f'There is no move "{slug}".')
    return found


def _reason(label: str) -> MakeForm:
    return lambda bug, data, prefix: ReasonForm(data, prefix=prefix, label=label)


def _text(label: str, hint: str = "") -> MakeForm:
    return lambda bug, data, prefix: TextForm(data, prefix=prefix, label=label, hint=hint)


def _words(bug: Bug, data: Data | None, prefix: str) -> BaseForm:
    return WordsForm(data, prefix=prefix, initial={"title": bug.title, "text": bug.text})


def _priority(bug: Bug, data: Data | None, prefix: str) -> BaseForm:
    return PriorityForm(data, prefix=prefix, initial={"priority": bug.priority})


def _resets(sentence: str) -> Callable[[Bug, Effect], str]:
    """Say what happens, then what it does to the loops; they never read spec bugs."""
    return lambda bug, effect: _said(sentence, "" if bug.kind == Kind.SPEC else effect.resets)


def _keeps(sentence: str) -> Callable[[Bug, Effect], str]:
    return lambda bug, effect: _said(sentence, "" if bug.kind == Kind.SPEC else effect.keeps)


def _said(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _is_work(bug: Bug) -> bool:
    return bug.kind != Kind.SPEC


def _is_live(bug: Bug) -> bool:
    return bug.state != State.CLOSED


OFFERS = (
    Offer(
        "answer", Verb.UNBLOCK, "Answer", "send", "Answer, reopen {}",
        "{} is answered and open again.",
        lambda bug, effect: _said("It is open again, with your words.", effect.answers),
        _reason("Answer"), lambda bug, by, data: services.unblock(bug, by, data["reason"]),
    ),
    Offer(
        "confirm", Verb.CONFIRM, "It still contradicts", "check", "Confirm {}",
        "{} is confirmed against the present text and open again.",
        _keeps("It is open again and cites the present text."),
        lambda bug, data, prefix: QuoteForm(data, prefix=prefix),
        lambda bug, by, data: services.confirm(bug, by, data["note"], quote=data["quote"]),
    ),
    Offer(
        "close", Verb.CLOSE, "Close", "ok", "Close {}", "{} is closed.",
        _keeps("It counts as settled."), _text("Why"),
        lambda bug, by, data: services.close(bug, by, data["text"]),
    ),
    Offer(
        "reopen", Verb.REOPEN, "Reopen", "undo", "Reopen {}", "{} is open again.",
        _resets("It blocks done again."), _reason("What is not fixed"),
        lambda bug, by, data: services.reopen(bug, by, data["reason"]),
        # A blocked entry is opened by answering it.
        lambda bug: bug.state != State.BLOCKED,
    ),
    Offer(
        "priority", Verb.PRIORITIZE, "Change the priority", "up", "Set the priority",
        "The priority of {} is changed.", _keeps(""), _priority,
        lambda bug, by, data: services.set_priority(bug, by, data["priority"]),
        lambda bug: _is_work(bug) and _is_live(bug),
    ),
    Offer(
        "task", Verb.TURN, "Turn into a task", "task", "Turn {} into a task", "{} is closed.",
        lambda bug, effect: _said("It is closed and a task is filed for it.", effect.resets),
        _text("What must be true when it is finished", "Empty takes the words of this entry."),
        lambda bug, by, data: services.turn_into_task(bug, by, data["text"]),
    ),
    Offer(
        "reword", Verb.REWORD, "Reword", "pencil", "Save the words", "{} has new words.",
        _resets("The citation stays."), _words,
        lambda bug, by, data: services.reword(bug, by, data["title"], data["text"]), _is_live,
    ),
    Offer(
        "dispute", Verb.DISPUTE, "Dispute the citation", "q", "Dispute {}",
        "{} counts as disputed.",
        _resets("It stays open, counted as disputed."), _reason("Why it does not contradict"),
        lambda bug, by, data: services.dispute(bug, by, data["reason"]),
        lambda bug: bug.kind == Kind.CODE and _is_live(bug) and not bug.is_disputed,
    ),
    Offer(
        "dismiss", Verb.DISMISS, "Dismiss", "x", "Dismiss {}", "{} is dismissed.",
        lambda bug, effect: _said(_accepted(bug), "" if bug.kind == Kind.SPEC else effect.resets),
        _reason("Reason"), lambda bug, by, data: services.dismiss(bug, by, data["reason"]),
        lambda bug: not bug.is_dismissed and _is_live(bug),
    ),
    Offer(
        "comment", Verb.COMMENT, "Comment", "note", "Add", "Your comment on {} is kept.",
        _keeps("It stands in the history."), _reason("Comment"),
        lambda bug, by, data: services.comment(bug, by, data["reason"]),
    ),
)  # fmt: skip


def _accepted(bug: Bug) -> str:
    if bug.kind == Kind.CODE:
        return "It is closed as an accepted exception; filed again, it is refused with your reason."
    return "It is closed, and your reason is shown."
