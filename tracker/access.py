"""The one guard: pages, parts, sockets and the API all ask here who may do what.

A role comes from Membership rows. `project` None everywhere means "all projects": only a role in
all of them counts then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from tracker.engine import rights
from tracker.engine.rights import Right, Role
from tracker.errors import NotAllowed
from tracker.models import Membership, Project
from tracker.services import By, person

__all__ = ["Right", "Role", "SignedInOnly", "acting", "guarded", "may", "require", "role_of"]

User = AbstractBaseUser | AnonymousUser
View = Callable[..., HttpResponseBase]
Found = TypeVar("Found")
_DOING = {
    Right.SEE: "Looking at",
    Right.OPERATE: "Steering loops, deciding and filing in",
    Right.ADMINISTER: "Setting up",
}
_SAFE = ("GET", "HEAD", "OPTIONS")


def role_of(user: User, project: Project | None) -> Role | None:
    """Return the highest role of the user in the project; None for nobody's and inactive users."""
    if not user.is_authenticated or not user.is_active:
        return None
    held = Membership.objects.filter(_in(project), user_id=user.pk)
    return rights.highest(Role(role) for role in held.values_list("role", flat=True))


def may(user: User, right: Right, project: Project | None) -> bool:
    return rights.has(role_of(user, project), right)


def require(user: User, right: Right, project: Project | None) -> None:
    """Raise NotAllowed with a sentence: the missing role, the present one, who can grant it."""
    role = role_of(user, project)
    if not rights.has(role, right):
        raise NotAllowed(_refusal(role, right, project))


def visible_projects(user: User) -> QuerySet[Project]:
    """Return the projects in which the user has any role, by name."""
    projects = Project.objects.order_by("name")
    if role_of(user, None) is not None:
        return projects
    if not user.is_authenticated or not user.is_active:
        return projects.none()
    return projects.filter(memberships__user_id=user.pk)


def acting(user: User) -> By:
    """Return the tracker's actor for a signed-in person."""
    return person(user.get_username())


def guarded(
    name: str,
    find: Callable[[Any], Found],
    *,
    project_of: Callable[[Found], Project | None] = lambda found: found,  # type: ignore[assignment, return-value]
    reads: Right = Right.SEE,
    writes: Right = Right.OPERATE,
) -> Callable[[View], View]:
    """Decorate a view: its URL argument `name` becomes the row that `find` returns, after the
    person's right on that row's project was checked: `reads` for GET, `writes` for the rest.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded_view(request: HttpRequest, **arguments: Any) -> HttpResponseBase:
            found = find(arguments.pop(name))
            right = reads if request.method in _SAFE else writes
            require(request.user, right, project_of(found))
            return view(request, **{name: found}, **arguments)

        return guarded_view

    return decorate


class SignedInOnly(LoginRequiredMiddleware):
    """Sends strangers to the login page; what scripts fetch gets 401 and a sentence instead, so
    that a login page is never swapped into a page."""

    def handle_no_permission(self, request: HttpRequest, view_func: View) -> HttpResponseBase:
        if not is_from_script(request):
            return super().handle_no_permission(request, view_func)
        sentence = "You are signed out. Load the page again to sign in."
        return HttpResponse(sentence, status=401, content_type="text/plain; charset=utf-8")


def is_from_script(request: HttpRequest) -> bool:
    """True for what a page's script fetched: it wants a part or data, not a page."""
    return "HX-Request" in request.headers or "json" in request.headers.get("Accept", "")


def _in(project: Project | None) -> Q:
    everywhere = Q(project__isnull=True)
    return everywhere if project is None else everywhere | Q(project=project)


def _refusal(role: Role | None, right: Right, project: Project | None) -> str:
    # The name of a project is told only to those who may see it.
    where = "this project" if project is not None and role is None else project or "all projects"
    has = f"You have {role}." if role else "You have no role there."
    needs = f"{_DOING[right]} {where} needs the role {rights.needed(right)}."
    return f"{needs} {has} {_granters(project)}"


def _granters(project: Project | None) -> str:
    admins = Membership.objects.filter(_in(project), role=Role.ADMIN.value, user__is_active=True)
    names = sorted(set(admins.values_list("user__username", flat=True)))
    if not names:
        return "Whoever runs Loopwatch can grant it: loopwatch access grant."
    return f"{' or '.join(names[:3])} can grant it."
