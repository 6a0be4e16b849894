"""The templates that the new session's form offers."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from loops.models import SessionTemplate
from loops.pages.new_session import TemplatesPart
from loops.reading import links
from loops.session_choices import loaded
from tracker.access import Right, acting, may

MOST_OFFERED = 200


def found(name: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """(initial values, sentences about what is missing) of the template of that name."""
    if not name:
        return {}, ()
    template = SessionTemplate.objects.filter(name=name).first()
    if template is None:
        return {}, (f"There is no template {name}. Nothing was filled in from it.",)
    return loaded(template)


def templates_part(
    request: HttpRequest, *, name: str = "", error: str = "", notes: tuple[str, ...] = ()
) -> TemplatesPart:
    """name: the one that the form stands at; else the one of the address."""
    sent = request.POST.get("template_name", "") if request.method == "POST" else ""
    shown = name or request.GET.get("template", "")
    template = SessionTemplate.objects.filter(name=shown).first() if shown else None
    names = SessionTemplate.objects.order_by("name").values_list("name", flat=True)
    return TemplatesPart(
        names=tuple(names[:MOST_OFFERED]),
        name=template.name if template else "",
        typed="" if name else sent,
        error=error,
        notes=notes,
        may_delete=template is not None and may_delete(request, template),
        asks=template is not None and "delete" in request.GET,
        save=links.SAVE_TEMPLATE,
        load=links.NEW_SESSION,
        delete=links.delete_template(template.pk) if template else "",
    )


def may_delete(request: HttpRequest, template: SessionTemplate) -> bool:
    """Its author, and who administers everything."""
    is_author = template.by == str(acting(request.user).actor)
    return is_author or may(request.user, Right.ADMINISTER, None)
