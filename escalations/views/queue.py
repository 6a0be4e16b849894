"""The queue, one question in it, and the decision."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from escalations import services
from escalations.forms import DecisionForm
from escalations.frame import follow
from escalations.models import Escalation, Status
from escalations.pages.queue import QueuePage
from escalations.reading import decision, question, queue
from loops import live
from loops.engine.values import Choice
from loops.reading import asked
from loops.reading.reading import Reading
from tracker.access import Right, acting, guarded, may, visible_projects
from tracker.errors import Conflict, Invalid
from tracker.models import Project
from tracker.pages.atoms import Act, Empty

SHOWS = ("open", "decided")


def project_of(escalation: Escalation) -> Project:
    return escalation.session.project


seen = guarded("escalation", services.get_escalation, project_of=project_of)


@require_safe
def listing(request: HttpRequest) -> HttpResponse:
    follow(request, live.ALL, "/live/")
    show = asked.one_of(request, "show", SHOWS)
    part = queue.queue_part(visible_projects(request.user), show=show)
    page = QueuePage(queue=part, empty=None if part.items else _empty(show))
    return render(request, "escalations/list.html", {"page": page})


@require_safe
def queue_only(request: HttpRequest, current: int | None = None) -> HttpResponse:
    """The list alone, for refresh. current: the question on view."""
    show = asked.one_of(request, "show", SHOWS)
    part = queue.queue_part(visible_projects(request.user), current=current, show=show)
    return render(request, "escalations/_queue.html", {"queue": part})


def _empty(show: str) -> Empty:
    if show == "decided":
        return Empty(
            icon="queue", fact="Nothing was decided yet", sentence="Decisions are kept here."
        )
    return Empty(
        icon="ok",
        fact="Nobody is waiting for you",
        sentence="The next question appears here by itself.",
        acts=(Act(text="Decided", href="?show=decided"),),
    )


@require_safe
@seen
def detail(request: HttpRequest, escalation: Escalation) -> HttpResponse:
    return _page(request, escalation)


@require_POST
@seen
def decide(request: HttpRequest, escalation: Escalation) -> HttpResponse:
    """One decision, bound to the evidence that the person saw."""
    reading = Reading(escalation.session)
    form = _posted(request, escalation, reading)
    if not form.is_valid() or decision.refuse_mixed_up(form, reading.facts):
        return _page(request, escalation, form=form, status=422)
    if form.cleaned_data["choice"] is Choice.EDIT:
        return redirect(f"{queue.HREF}{escalation.pk}/edit/")
    word = decision.word_of(form.cleaned_data | _seen_by(request, escalation))
    try:
        services.decide(escalation, word, acting(request.user))
    except Conflict as fault:
        return _lost(request, escalation.pk, form, fault)
    except Invalid as fault:
        form.add_error(None, str(fault))
        return _page(request, escalation, form=form, status=422)
    messages.success(
        request, f"{escalation} is decided. S-{escalation.session_id} takes it up now."
    )
    return redirect(f"{queue.HREF}{escalation.pk}/")


def _posted(request: HttpRequest, escalation: Escalation, reading: Reading) -> DecisionForm:
    diff = question.result_of(escalation, reading)
    offered = decision.options(escalation, reading, is_shown=question.is_shown(diff))
    return decision.decision_form(escalation, reading, offered, request.POST.dict())


def _seen_by(request: HttpRequest, escalation: Escalation) -> dict[str, object]:
    """The evidence and version of the page that the person decided on; 0 names none."""
    version = request.POST.get("version", "")
    is_number = version.isascii() and version.isdigit() and len(version) < 10
    return {
        "evidence": request.POST.get("evidence", "")[:64],
        "version": int(version) if is_number else 0,
    }


def _lost(request: HttpRequest, pk: int, form: DecisionForm, fault: Conflict) -> HttpResponse:
    """Somebody was faster, or the evidence changed: say so, apply nothing, keep what was typed."""
    now = services.get_escalation(pk)
    if now.status != Status.OPEN.value:
        return _page(request, now, draft_from=form, status=409)
    return _page(request, now, form=form, changed=str(fault), status=409)


def _page(
    request: HttpRequest,
    escalation: Escalation,
    *,
    form: DecisionForm | None = None,
    draft_from: DecisionForm | None = None,
    changed: str = "",
    status: int = 200,
) -> HttpResponse:
    request.project = escalation.session.project  # type: ignore[attr-defined]
    follow(request, live.ALL, "/live/")
    show = asked.one_of(request, "show", SHOWS)
    part = queue.queue_part(visible_projects(request.user), current=escalation.pk, show=show)
    reading = Reading(escalation.session)
    amend = request.GET.get("amend", "")
    may_decide = may(request.user, Right.OPERATE, escalation.session.project)
    page = QueuePage(
        queue=part,
        question=question.question_part(
            escalation, reading, may_decide=may_decide, form=form, amend=amend
        ),
        draft=question.draft_of(draft_from, escalation) if draft_from else None,
        evidence_changed=changed,
        parts_url=f"{queue.HREF}{escalation.pk}/parts/",
    )
    return render(request, "escalations/detail.html", {"page": page}, status=status)
