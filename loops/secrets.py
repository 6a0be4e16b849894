"""Credentials of agents: encrypted at rest, decrypted only for the call that needs them."""

from __future__ import annotations

import re
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

from loops import moment
from loops.agents.redact import SHORTEST_SECRET
from loops.models import Agent, Secret
from tracker.errors import Conflict, Invalid, NotFound

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


def keep(name: str, value: str, by: str = "") -> None:
    """Store or replace. Raises Invalid for an unusable name or an empty value."""
    if not _NAME.fullmatch(name):
        raise Invalid(f"{name!r} is no name for a secret: use small letters, digits and dashes.")
    if len(value.strip()) < SHORTEST_SECRET:
        raise Invalid(
            f"The secret is shorter than {SHORTEST_SECRET} characters: it could not be told from "
            "other text and taken out of what agents print. Nothing was kept."
        )
    sealed = Fernet(settings.SECRETS_KEY).encrypt(value.encode())
    said = {"ciphertext": sealed, "by": by, "at": moment.now()}
    Secret.objects.update_or_create(name=name, defaults=said)


def remove(name: str) -> None:
    """Raises Conflict while an agent names it. A session that was started with such an agent asks a
    person when it needs the secret next."""
    secret, needed = find(name), users(name)
    if needed:
        raise Conflict(f"The secret {name} is used by {', '.join(needed)}. Change that first.")
    secret.delete()


def users(name: str) -> list[str]:
    """Names of the agents whose settings name the secret."""
    agents = Agent.objects.order_by("name").values_list("name", "settings")
    return [agent for agent, settings_ in agents if name in named(settings_)]


def named(agent: dict[str, Any]) -> tuple[str, ...]:
    """The secrets that an agent's settings name, each once."""
    key = [agent["key"]] if agent.get("key") else []
    return tuple(dict.fromkeys([*key, *agent.get("secret_env", {}).values()]))


def find(name: str) -> Secret:
    """The stored row. Raises NotFound with what to do."""
    secret = Secret.objects.filter(name=name).first()
    if secret is None:
        raise NotFound(
            f"There is no secret named {name}; keep it with: loopwatch secret set {name}"
        )
    return secret


def reveal(name: str) -> str:
    """The value, for the call that needs it now. Raises NotFound, or Invalid when it was sealed
    with another key file."""
    secret = find(name)
    try:
        value = Fernet(settings.SECRETS_KEY).decrypt(bytes(secret.ciphertext)).decode()
        Secret.objects.filter(pk=secret.pk).update(used_at=moment.now())
        return value
    except InvalidToken:
        raise Invalid(
            f"The secret {name} was sealed with another key file; set it again."
        ) from None
