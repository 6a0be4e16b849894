"""Rows of the core app, by noun. State is folded from LogEntry; the rest is cache or record."""

from loops.models.installation import (
    Agent,
    Host,
    LoginLink,
    Price,
    Program,
    RoleDefault,
    Secret,
    SessionTemplate,
)
from loops.models.iterations import Iteration, LedgerEntry, LogEntry, OutputPiece, PromptText
from loops.models.sessions import Answer, Delivery, Session, Transition

__all__ = [
    "Agent",
    "Answer",
    "Delivery",
    "Host",
    "Iteration",
    "LedgerEntry",
    "LogEntry",
    "LoginLink",
    "OutputPiece",
    "Price",
    "Program",
    "PromptText",
    "RoleDefault",
    "Secret",
    "Session",
    "SessionTemplate",
    "Transition",
]
