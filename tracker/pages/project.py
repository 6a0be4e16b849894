"""A form to make a project (templates/tracker/new_project.html)."""

from __future__ import annotations

from dataclasses import dataclass

from django.forms import BaseForm


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProjectPage:
    """index: All loops, where the breadcrumb leads."""

    form: BaseForm
    post: str
    index: str
