"""The one family of domain errors. Services raise them; each door turns them into its own message.

The text is a sentence for a person: what is wrong, where, and what to do.
"""


class DomainError(Exception):
    """A refused request: nothing was written."""


class NotFound(DomainError):
    """The named thing does not exist (HTTP 404)."""


class NotAllowed(DomainError):
    """The actor lacks the right (HTTP 403)."""


class Conflict(DomainError):
    """Somebody or something else was faster, or the move is illegal now (HTTP 409)."""


class Invalid(DomainError):
    """The input is wrong (HTTP 422)."""
