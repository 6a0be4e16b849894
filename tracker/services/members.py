"""Who has which role. Only people at the command line and admins get here."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from tracker.engine.rights import Role
from tracker.errors import Conflict, Invalid, NotFound
from tracker.models import Membership, Project


def grant(name: str, role: str, project: Project | None) -> Membership:
    """Give the person of that name the role in the project (None: in all), instead of the role
    they had there. A new name becomes a person who can sign in by a link, never by a password.
    Raises Conflict rather than leave no admin of all projects."""
    if role not in set(Role):
        raise Invalid(f'"{role}" is no role: viewer, operator and admin are.')
    with transaction.atomic():
        user = known_user(name)
        if project is None and role != Role.ADMIN:
            _keep_an_admin(name)
        membership, _ = Membership.objects.update_or_create(
            user=user, project=project, defaults={"role": role}
        )
    return membership


def revoke(name: str, project: Project | None) -> None:
    """Take the person's role in the project (None: in all) away. Raises NotFound, and Conflict
    rather than leave no admin of all projects."""
    with transaction.atomic():
        if project is None:
            _keep_an_admin(name)
        gone, _ = Membership.objects.filter(user__username=name, project=project).delete()
        if not gone:
            raise NotFound(f"{name} has no role in {project or 'all projects'}.")


def _keep_an_admin(name: str) -> None:
    """Raise Conflict if nobody but that person sets up all projects. Locks those who do."""
    rows = Membership.objects.filter(project=None, role=Role.ADMIN.value, user__is_active=True)
    admins = list(rows.select_for_update(of=("self",)).values_list("user__username", flat=True))
    if admins == [name.strip()]:
        raise Conflict(
            f"{name} is the only admin of all projects, and nobody could set anything up any more."
            " Make somebody else admin first: loopwatch access grant NAME admin."
        )


def known_user(name: str) -> AbstractBaseUser:
    """Return the user of that name, made without a usable password when new. Raises Invalid."""
    name = name.strip()
    if not name or len(name) > 150 or not name.isprintable():
        raise Invalid("A person's name has 1 to 150 characters.")
    users = get_user_model().objects
    unusable = make_password(None)
    return users.get_or_create(username=name, defaults={"password": unusable})[0]
