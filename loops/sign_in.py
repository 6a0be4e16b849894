"""Links that sign one person in, once. Only the hash of a link's token is kept."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.core.cache import cache
from django.utils import timezone

from loops import moment
from loops.models import LoginLink
from tracker.engine.rights import Role
from tracker.errors import Invalid
from tracker.models import Membership
from tracker.services import members

MINUTES = 10
WRONG_PER_MINUTE = 10  # links that do not work, per address; then it waits for a minute


@dataclass(frozen=True, slots=True)
class NewLink:
    """token: shown once, never kept. path: of the page that it opens."""

    token: str
    expires_at: datetime

    @property
    def path(self) -> str:
        return f"/login/{self.token}/"


class Unusable(Exception):
    """A link that signs nobody in: headline and sentence for a person. status: of the answer."""

    def __init__(self, headline: str, sentence: str, status: int = 410) -> None:
        super().__init__(sentence)
        self.headline, self.sentence, self.status = headline, sentence, status


def link_for_owner(name: str) -> NewLink:
    """A link for who runs Loopwatch: who can read the data folder is admin of everything."""
    members.grant(name, Role.ADMIN.value, None)
    return _link(members.known_user(name))


def link_for(name: str) -> NewLink:
    """A link for another person, who needs a role first. Raises Invalid."""
    user = get_user_model().objects.filter(username=name, is_active=True).first()
    if user is None or not Membership.objects.filter(user=user).exists():
        raise Invalid(f"{name} has no role yet: loopwatch access grant {name} viewer gives one.")
    return _link(user)


def nobody_came_yet() -> bool:
    """Whether no link was ever used."""
    return not LoginLink.objects.exclude(used_at=None).exists()


def look(token: str, address: str) -> LoginLink:
    """The link, unused and in time. Raises Unusable. address: whose wrong tries are counted."""
    mistakes = f"login-mistakes:{address}"
    if cache.get(mistakes, 0) >= WRONG_PER_MINUTE:
        raise Unusable(
            "Too many wrong links", "Wait a minute, then open the newest link once more.", 429
        )
    try:
        return _usable(token)
    except Unusable:
        cache.add(mistakes, 0, timeout=60)
        cache.incr(mistakes)
        raise


def use(token: str, address: str) -> AbstractBaseUser:
    """Consume the link and return whom it signs in. Of two at once one gets Unusable."""
    link = look(token, address)
    now = moment.now()
    fresh = LoginLink.objects.filter(pk=link.pk, used_at=None, expires_at__gt=now)
    if not fresh.update(used_at=now):
        return _usable(token).user  # raises: it was used at this very moment
    return link.user


def _link(user: AbstractBaseUser) -> NewLink:
    token, at = secrets.token_urlsafe(32), moment.now()
    expires = at + timedelta(minutes=MINUTES)
    LoginLink.objects.create(user=user, token_hash=_hash(token), created_at=at, expires_at=expires)
    return NewLink(token, expires)


def _usable(token: str) -> LoginLink:
    link = LoginLink.objects.select_related("user").filter(token_hash=_hash(token)).first()
    if link is None or not link.user.is_active:
        raise Unusable("This link is not known", "It may be cut off, or from another Loopwatch.")
    if link.used_at is not None:
        at = _clock(link.used_at)
        raise Unusable("This link was used", f"A login link works once; this one was used at {at}.")
    if link.expires_at <= moment.now():
        at = _clock(link.expires_at)
        raise Unusable("This link is too old", f"It could be used until {at}.")
    return link


def _clock(at: datetime) -> str:
    return f"{timezone.localtime(at):%H:%M}"


def _hash(token: str) -> str:
    return sha256(token.encode()).hexdigest()
