"""Rows of an installation: agents, secrets, templates, hosts, prices."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from loops.engine.values import Role
from loops.models.words import choices


class Agent(models.Model):
    """A named adapter with settings; a session freezes a copy of them at its start.

    trial: how the last try of these settings went (loops.trials.Trial as plain values), null where
    none was made since they were saved. tried_at: when it was asked for.
    """

    name = models.SlugField(max_length=60, unique=True)
    adapter = models.CharField(max_length=20)
    settings = models.JSONField(default=dict)
    trial = models.JSONField(null=True)
    tried_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name


class RoleDefault(models.Model):
    """Which agent the form of a new session proposes for a role."""

    role = models.CharField(max_length=10, choices=choices(Role), unique=True)
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="proposed_for")

    def __str__(self) -> str:
        return f"{self.role}: {self.agent}"


class Program(models.Model):
    """A coding CLI as it was found on a host at seen_at.

    name: the adapter's, for what PATH leads to; or the path that an agent's settings name. path: ""
    = not there. version: as it says it. fault: a sentence, where it did not say one.
    """

    host = models.CharField(max_length=63)
    name = models.CharField(max_length=1000)
    path = models.TextField(default="", blank=True)
    version = models.CharField(max_length=60, default="", blank=True)
    fault = models.TextField(default="", blank=True)
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["host", "name"], name="program_once_per_host")
        ]

    def __str__(self) -> str:
        return f"{self.name} on {self.host}"


class Secret(models.Model):
    """A credential, encrypted with the key file of the data folder; never shown again.

    by, at: who set it, and when; null and "" for one from before that was kept. used_at: when it
    was last given to an agent.
    """

    name = models.SlugField(max_length=60, unique=True)
    ciphertext = models.BinaryField()
    by = models.CharField(max_length=150, default="", blank=True)
    at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.name


class SessionTemplate(models.Model):
    """A set-up of the new session's form under a name: all but what the session is about.

    values: field -> what was typed; pool and verifiers are lists of rows."""

    name = models.CharField(max_length=60, unique=True)
    values = models.JSONField()
    by = models.CharField(max_length=150)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class LoginLink(models.Model):
    """Signs one person in, once, until expires_at. token_hash: sha256 of the token, in hex."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"login link of {self.user}"


class Host(models.Model):
    """A machine, or one data folder of it, that moves sessions on; its clock keeps seen_at fresh.

    boot_id: of the machine's kernel, to tell two machines of one name apart. leftovers: agent trees
    ({"host", "boot_id", "pid", "start_ticks", "mark"}) of sessions that went on elsewhere; this
    host ends them when it is back.
    """

    name = models.CharField(max_length=63, unique=True)
    data = models.TextField()
    boot_id = models.CharField(max_length=64)
    slots = models.PositiveSmallIntegerField()
    version = models.CharField(max_length=40)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    leftovers = models.JSONField(default=list)

    def __str__(self) -> str:
        return self.name


class Price(models.Model):
    """Dollars per million tokens of a model. cached: of input that the provider had already."""

    model = models.CharField(max_length=100, unique=True)
    input = models.DecimalField(max_digits=12, decimal_places=6)
    cached = models.DecimalField(max_digits=12, decimal_places=6)
    output = models.DecimalField(max_digits=12, decimal_places=6)
    by = models.CharField(max_length=150, default="")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.model
