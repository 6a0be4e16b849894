"""Every page of the story as HTML, by the product's own templates, without a database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import django
import time_machine
from django.conf import settings
from django.template.backends.django import DjangoTemplates

from tests.browser import story

ROOT = Path(__file__).parents[2]


def prepare() -> None:
    """Make templates and forms usable when no Django settings are in force (plain script)."""
    if not settings.configured:
        settings.configure(
            USE_TZ=True, TIME_ZONE="UTC", STATIC_URL="/static/", USE_THOUSAND_SEPARATOR=False
        )
        django.setup()


def engine() -> DjangoTemplates:
    return DjangoTemplates(
        {
            "NAME": "story",
            "DIRS": [ROOT / "templates"],
            "APP_DIRS": False,
            "OPTIONS": {
                "string_if_invalid": "",
                "libraries": {
                    "loopwatch": "loops.templatetags.loopwatch",
                    "static": "django.templatetags.static",
                },
            },
        }
    )


def pages() -> dict[str, tuple[str, str, Callable[[], Any]]]:
    """Name -> template, current entry of the rail, what makes its page value."""
    from tests.browser import story_pages as p
    from tests.browser import story_past as h
    from tests.browser import story_session as s
    from tests.browser import story_settings as e
    from tests.browser import story_tracker as t

    return {
        "session": ("loops/session.html", "Loops", s.running),
        "session-diff": ("loops/session.html", "Loops", lambda: s.running("diff")),
        "session-files": ("loops/session.html", "Loops", lambda: s.running("files")),
        "session-stop": ("loops/session.html", "Loops", s.stopping),
        "session-waiting": ("loops/session.html", "Loops", s.waiting),
        "session-ended": ("loops/session.html", "Loops", s.ended),
        "session-queued": ("loops/session.html", "Loops", s.first_minute),
        "session-short": ("loops/session.html", "Loops", s.short),
        "index": ("loops/index.html", "Loops", p.index),
        "index-empty": ("loops/index.html", "Loops", p.no_loops),
        "question": ("escalations/detail.html", "Queue", p.question),
        "question-refused": ("escalations/detail.html", "Queue", p.question_refused),
        "question-decided": ("escalations/detail.html", "Queue", p.question_decided),
        "edit": ("escalations/edit.html", "Queue", p.edit),
        "queue": ("escalations/list.html", "Queue", p.queue_list),
        "queue-empty": ("escalations/list.html", "Queue", p.queue_empty),
        "tracker": ("tracker/board.html", "Tracker", t.board),
        "tracker-code": ("tracker/board.html", "Tracker", lambda: t.board("code")),
        "tracker-spec": ("tracker/board.html", "Tracker", lambda: t.board("spec")),
        "tracker-refused": ("tracker/board.html", "Tracker", t.board_refused),
        "tracker-alone": ("tracker/board.html", "Tracker", t.board_alone),
        "tracker-entry": ("tracker/board.html", "Tracker", t.entry),
        "tracker-empty": ("tracker/board.html", "Tracker", t.board_empty),
        "requirement": ("tracker/requirement.html", "Specs", t.requirement),
        "requirement-read": ("tracker/requirement.html", "Specs", t.requirement_read),
        "requirement-new": ("tracker/requirement.html", "Specs", t.requirement_new),
        "spec": ("tracker/requirement.html", "Specs", t.spec),
        "spec-empty": ("tracker/requirement.html", "Specs", t.spec_empty),
        "new-session": ("loops/new_session.html", "Loops", p.new_session),
        "new-session-refused": ("loops/new_session.html", "Loops", p.new_session_refused),
        "session-fork": ("loops/session.html", "Loops", h.forked_session),
        "compare": ("loops/compare.html", "Loops", h.compared),
        "compare-choose": ("loops/compare_choose.html", "Loops", h.choose),
        "history": ("loops/history.html", "Loops", h.history),
        "history-none": ("loops/history.html", "Loops", h.history_empty),
        "replay": ("loops/replay.html", "Loops", h.replay),
        "replay-differs": ("loops/replay.html", "Loops", h.replay_differs),
        "fork": ("loops/fork.html", "Loops", h.fork),
        "fork-refused": ("loops/fork.html", "Loops", h.fork_refused),
        "new-project": ("tracker/new_project.html", "Loops", p.new_project),
        "agents": ("loops/settings/agents.html", "Settings", e.agents),
        "agents-empty": ("loops/settings/agents.html", "Settings", e.agents_empty),
        "agent": ("loops/settings/agent.html", "Settings", e.agent),
        "agent-new": ("loops/settings/agent.html", "Settings", e.new_agent),
        "agent-endpoint": (
            "loops/settings/agent.html",
            "Settings",
            lambda: e.new_agent("openai"),
        ),
        "agent-refused": ("loops/settings/agent.html", "Settings", e.new_agent_refused),
        "prices": ("loops/settings/prices.html", "Settings", e.prices),
        "secret": ("loops/settings/secret.html", "Settings", e.secret),
        "welcome": ("loops/welcome.html", "Settings", e.welcome),
        "welcome-looked": ("loops/welcome.html", "Settings", e.welcome_looked),
        "login": ("login/link.html", "", lambda: p.LINK),
        "login-used": ("login/none.html", "", lambda: p.USED),
        "account": ("login/account.html", "", lambda: p.ACCOUNT),
        "403": ("403.html", "Queue", lambda: p.ERRORS["403"]),
        "404": ("404.html", "Loops", lambda: p.ERRORS["404"]),
        "409": ("409.html", "Loops", lambda: p.ERRORS["409"]),
        "500": ("500.html", "", lambda: None),
        "silent": ("loops/index.html", "Loops", p.index),
    }


STILL = (
    "agent",
    "agent-new",
    "agent-endpoint",
    "agent-refused",
    "prices",
    "secret",
    "login",
    "login-used",
    "account",
    "403",
    "404",
    "409",
    "new-session",
    "new-session-refused",
    "new-project",
    "compare",
    "compare-choose",
    "history",
    "history-none",
    "replay",
    "replay-differs",
    "fork",
    "fork-refused",
    "edit",
)


def render(name: str) -> str:
    prepare()
    template, current, make = pages()[name]
    with time_machine.travel(story.NOW, tick=False):
        age, count = 48.0 if name == "silent" else 3.2, 0 if name.endswith("-empty") else 2
        frame = story.frame(current, live=name not in STILL, age=age, count=count)
        return engine().get_template(template).render({"frame": frame, "page": make()})
