"""No page is left out of the audit: a new address is either audited or said to be no page."""

from __future__ import annotations

from django.urls import get_resolver, resolve

from tests.browser.render import pages
from tests.browser.test_rows import PAGES as ROWS
from tests.browser.test_whole_path import PAGES as PATHS

# Parts of pages, plain data, and what is only ever sent to.
NO_PAGES = {
    "decide", "delete_template", "demo", "engine_age", "export", "file", "first_repository",
    "first_session", "fork_before", "health", "index_part", "iteration_part", "logout",
    "look_for_programs", "move", "patch", "pause", "preview_session", "propose", "pull_request",
    "push", "question_queue_part", "queue_part", "raw_output", "remove_agent", "remove_secret",
    "resume", "save_template", "session_part", "settings_part", "start", "step", "stop",
    "take_prices", "try_agent", "try_found", "welcome_part",
}  # fmt: skip
TOLD = {"login", "login-used", "403", "404", "409", "500", "session-stop", "edit"}  # by the story
# "login", "login-used" and pages by their own names there; the dry run in test_three_patterns.
STORY = {"login_link", "secret", "edit", "compare", "history", "replay", "fork", "dry_run"}


def test_every_address_is_audited_in_a_browser_or_is_no_page():
    named = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    audited = {resolve(path.partition("?")[0]).url_name for path in (*PATHS[:-1], *ROWS.values())}
    assert named - audited - NO_PAGES == STORY
    assert named >= NO_PAGES
    assert set(pages()) >= TOLD
