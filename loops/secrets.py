"""Credentials of agents: encrypted at rest, decrypted only for the call that needs them."""

from __future__ import annotations

import re

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

from loops.models import Secret
from tracker.errors import Invalid, NotFound

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


def keep(name: str, value: str) -> None:
    """Store or replace. Raises Invalid for an unusable name or an empty value."""
    if not _NAME.fullmatch(name):
        raise Invalid(f"{name!r} is no name for a secret: use small letters, digits and dashes.")
    if not value:
        raise Invalid("The secret is empty; nothing was kept.")
    sealed = Fernet(settings.SECRETS_KEY).encrypt(value.encode())
    Secret.objects.update_or_create(name=name, defaults={"ciphertext": sealed})


def find(name: str) -> Secret:
    """The stored row. Raises NotFound with what to do."""
    secret = Secret.objects.filter(name=name).first()
    if secret is None:
        raise NotFound(
            f"There is no secret named {name}; keep it with: loopwatch secret set {name}"
        )
    return secret


def reveal(name: str) -> str:
    """The value. Raises NotFound, or Invalid when it was sealed with another key file."""
    secret = find(name)
    try:
        return Fernet(settings.SECRETS_KEY).decrypt(bytes(secret.ciphertext)).decode()
    except InvalidToken:
        raise Invalid(
            f"The secret {name} was sealed with another key file; set it again."
        ) from None
