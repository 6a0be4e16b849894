"""Who has which role. Only people at the command line and admins get here."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import AbstractBaseUser

from tracker.engine.rights import Role
from tracker.errors import Invalid, NotFound
from tracker.models import Membership, Project


def grant(name: str, role: str, project: Project | None) -> Membership:
    """Give the person of that name the role in the project (None: in all), instead of the role
    they had there. A new name becomes a person who can sign in by a link, never by a password."""
    if role not in set(Role):
        raise Invalid(f'"{role}" is no role: viewer, operator and admin are.')
    membership, _ = Membership.objects.update_or_create(
        user=known_user(name), project=project, defaults={"role": role}
    )
    return membership


def revoke(name: str, project: Project | None) -> None:
    """Take the person's role in the project (None: in all) away. Raises NotFound."""
    gone, _ = Membership.objects.filter(user__username=name, project=project).delete()
    if not gone:
        raise NotFound(f"{name} has no role in {project or 'all projects'}.")


def known_user(name: str) -> AbstractBaseUser:
    """Return the user of that name, made without a usable password when new. Raises Invalid."""
    name = name.strip()
    if not name or len(name) > 150 or not name.isprintable():
        raise Invalid("A person's name has 1 to 150 characters.")
    users = get_user_model().objects
    unusable = make_password(None)
    return users.get_or_create(username=name, defaults={"password": unusable})[0]
