"""Set-ups of the new session's form that people keep under a name."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction

from loops import moment
from loops.models import SessionTemplate
from tracker.errors import Conflict, Invalid, NotFound
from tracker.services import By


def get_template(number: int) -> SessionTemplate:
    template = SessionTemplate.objects.filter(pk=number).first()
    if template is None:
        raise NotFound("There is no such template; it may have been deleted meanwhile.")
    return template


def keep(name: str, values: dict[str, Any], by: By) -> SessionTemplate:
    """Raises Conflict when the name is taken: nobody's template is replaced by the way."""
    name = " ".join(name.split())
    if not name:
        raise Invalid("Name the template.")
    try:
        with transaction.atomic():
            return SessionTemplate.objects.create(
                name=name, values=values, by=str(by.actor), at=moment.now()
            )
    except IntegrityError:
        taken = SessionTemplate.objects.filter(name=name).first()
        whose = f" by {taken.by}" if taken else ""
        raise Conflict(
            f"There is a template {name}{whose} already. Choose another name, or delete it first."
        ) from None


def delete(template: SessionTemplate) -> None:
    """Sessions that were started from it keep their own configuration."""
    template.delete()
