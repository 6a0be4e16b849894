"""Addresses of pages, written once (design/ui.md 2)."""

from __future__ import annotations

from tracker.models import Project
from tracker.pages.atoms import Link

INDEX = "/"
NEW_SESSION = "/sessions/new/"
PREVIEW = "/sessions/new/preview/"
DRY_RUN = "/sessions/new/dry-run/"
SAVE_TEMPLATE = "/sessions/templates/"
NEW_PROJECT = "/projects/new/"
NEW_AGENT = "/agents/new/"
DEMO = "/demo/"
COMPARE = "/sessions/compare/"
ACCOUNT = "/account/"
WELCOME = "/welcome/"
WELCOME_PARTS = "/welcome/parts/"
REPOSITORY = "/welcome/repository/"
FIRST_SESSION = "/welcome/start/"
AGENTS = "/settings/agents/"
SETTINGS_PARTS = "/settings/parts/"
LOOK = "/settings/look/"
PROPOSE = "/settings/roles/"
PRICES = "/settings/prices/"
TAKE_PRICES = "/settings/prices/take/"
SECRETS = "/settings/secrets/"


def agent(name: str) -> str:
    return f"{AGENTS}{name}/"


def try_agent(name: str) -> str:
    return f"{agent(name)}try/"


def try_found(adapter: str) -> str:
    """A coding CLI that was found, made an agent and tried."""
    return f"{WELCOME}try/{adapter}/"


def secret(name: str) -> str:
    return f"{SECRETS}{name}/"


def delete_template(template_id: int) -> str:
    return f"{SAVE_TEMPLATE}{template_id}/delete/"


def session(session_id: int) -> str:
    return f"/sessions/{session_id}/"


def iteration(session_id: int, number: int) -> str:
    return f"{session(session_id)}iterations/{number}/"


def history(session_id: int, number: int = 0) -> str:
    """The session as it stood after iteration `number`; 0 = the newest."""
    return f"{session(session_id)}history/" + (f"?at={number}" if number else "")


def replay(session_id: int) -> str:
    return f"{session(session_id)}replay/"


def export(session_id: int) -> str:
    return f"{session(session_id)}export/"


def fork(session_id: int, number: int) -> str:
    return f"{session(session_id)}fork/?at={number}"


def compare(a: int, b: int) -> str:
    return f"{COMPARE}?a={a}&b={b}"


def tracker(project: Project) -> str:
    return f"/p/{project.name}/tracker/"


def spec(project: Project) -> str:
    return f"/p/{project.name}/specs/"


def entry(project: Project, key: str) -> Link:
    """Return the link to an entry of the tracker, "B-7"."""
    return Link(key, f"{tracker(project)}{key}/")


def requirement(project: Project, key: str) -> Link:
    return Link(key, f"{spec(project)}{key}/")
