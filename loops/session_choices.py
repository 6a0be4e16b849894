"""From the new session's form to a configuration, to a template's values and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import QueryDict

from loops import services, session_templates
from loops.engine.values import Pattern
from loops.models import Agent, SessionTemplate
from loops.session_forms import ABOUT, COMMON, FIELDS, ROWS, NewSessionForm, TemplateForm
from loops.session_rows import MOST_ROWS, WorkerRow, indices, typed_rows
from tracker.access import acting
from tracker.errors import Invalid
from tracker.scope import Scope

Values = dict[str, Any]
User = AbstractBaseUser | AnonymousUser
_ROWS = ("pool", "verifiers")
_WHOLE = "no_progress"  # stands in every form that was sent, and in no link to one
_LISTS = ("gates", "documents", "requirements")
_ONE_AGENT = {
    Pattern.SINGLE_THREAD: ("worker", "reviewer", "coach"),
    Pattern.MAKER_VERIFIER: ("maker",),
    Pattern.FEEDBACK: ("thinker",),
}
_BUDGETS = {
    Pattern.SINGLE_THREAD: ("review_every", "coach_every", "done_mode", "script"),
    Pattern.MAKER_VERIFIER: ("attempts", "reverifications"),
    Pattern.FEEDBACK: (
        "retries", "reassigns", "replans", "self_calls", "nested", "reverifications",
    ),
}  # fmt: skip


def config_of(form: NewSessionForm) -> Values:
    """The configuration that a valid form asks for; raises NotFound for an agent that is gone."""
    data, pattern = form.cleaned_data, form.pattern_now
    tokens = data["tokens"]
    config: Values = {
        "pattern": pattern.value,
        "gates": data["gates"],
        "agents": {
            role: services.agent_config(data[role]) for role in _ONE_AGENT[pattern] if data[role]
        },
        "limits": {
            "iterations": data["iterations"],
            "wall_seconds": data["hours"] * 3600,
            "no_progress": data["no_progress"],
            "tokens": tokens * 1_000_000 if tokens else None,
            "money": data["money"],
        },
    }
    if form.needs_a_word:
        config["judges_itself"] = data["judges_itself"]
    rows = {name: [_member(row) for row in getattr(form, name)] for name in ROWS[pattern]}
    return config | {name: data[name] for name in _BUDGETS[pattern]} | rows


def _member(row: WorkerRow) -> Values:
    data = dict(row.cleaned_data)
    return data | {"agent": services.agent_config(data["agent"])}


def scope_of(data: Mapping[str, Any]) -> Scope:
    if data["scope"] == "chosen":
        return Scope(tuple(data["documents"]), tuple(data["requirements"]))
    return Scope(everything=data["scope"] == "all")


def values_of(form: NewSessionForm) -> Values:
    """What a template keeps: as typed, of the chosen pattern, without what it is about."""
    pattern = form.pattern_now
    names = (*COMMON, *FIELDS[pattern])
    kept: Values = {name: form[name].value() for name in names}
    rows = {name: [row.typed() for row in getattr(form, name)] for name in ROWS[pattern]}
    return kept | rows


def can_be_kept(form: NewSessionForm) -> bool:
    """Whether the form is right but for what it is about, which a template has none of."""
    form.is_valid()
    for name in ABOUT:
        form.errors.pop(name, None)
    return form.is_valid()


def keep(
    form: NewSessionForm, name: str, user: AbstractBaseUser | AnonymousUser
) -> SessionTemplate:
    """Raises Invalid without a proper name, Conflict for one that is taken."""
    named = TemplateForm({"template_name": name})
    if not named.is_valid():
        raise Invalid(" ".join(named.errors["template_name"]))
    values = values_of(form)
    return session_templates.keep(named.cleaned_data["template_name"], values, acting(user))


def with_rows(data: QueryDict) -> QueryDict:
    """`data` itself, or a copy with a row added ("add": "pool") or removed ("remove": "pool-1"),
    all else as it was typed."""
    changed = data.copy()
    add, remove = data.get("add", ""), data.get("remove", "")
    name = add or remove.rpartition("-")[0]
    if name not in _ROWS:
        return data
    there = indices(data, name)
    if add and len(there) < MOST_ROWS:
        number = there[-1] + 1 if there else 0
        changed[f"{name}-{number}-name"] = ""
        changed[f"{name}-{number}-agent"] = (
            data.get(f"{name}-{there[-1]}-agent", "") if there else ""
        )
        if name == "verifiers":
            changed[f"{name}-{number}-policy"] = "required"
    for key in data:
        if remove and key.startswith(f"{remove}-"):
            del changed[key]
    return changed


def from_query(query: QueryDict) -> Values:
    """Initial values from what was sent before another project was chosen or a row was added. In
    a form that was sent, a tick or a row that is not there was taken out."""
    single = (*ABOUT, *COMMON, *(name for names in FIELDS.values() for name in names))
    found: Values = {
        name: query.getlist(name) if name in _LISTS else query[name]
        for name in dict.fromkeys(single)
        if name in query
    }
    if _WHOLE in query:
        found |= {name: name in query for name in ("no_tokens", "no_money", "nested")}
        found |= {name: query.getlist(name) for name in _LISTS}
        found |= {name: typed_rows(query, name) for name in _ROWS}
    return found


def loaded(template: SessionTemplate) -> tuple[Values, tuple[str, ...]]:
    """(initial values, a sentence for each agent of it that is not there any more)."""
    values: Values = dict(template.values)
    known = set(Agent.objects.values_list("name", flat=True))
    named = [values.get(role) for roles in _ONE_AGENT.values() for role in roles]
    named += [row.get("agent") for name in ("pool", "verifiers") for row in values.get(name, ())]
    gone = sorted({str(name) for name in named if name and name not in known})
    return values, tuple(
        f"The agent {name} of this template is not there any more. Choose another where it stood."
        for name in gone
    )
