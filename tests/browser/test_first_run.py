"""A new user with one coding CLI on PATH: from the login link to a running session."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.running import Visitor, complaints
from tests.loops.upping import Installation

pytestmark = pytest.mark.slow

CLAUDE = r"""#!/bin/sh
if [ "$1" = --version ]; then echo "2.1.332 (Claude Code)"; exit 0; fi
cat >/dev/null
sleep 1
echo '{"type":"system","subtype":"init","session_id":"a","model":"claude-stub-1"}'
echo '{"type":"assistant","message":{"id":"m","model":"claude-stub-1","content":[{"type":"text","text":"ready"}],"usage":{"input_tokens":10,"output_tokens":2}},"session_id":"a"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"ready","session_id":"a","terminal_reason":"completed","usage":{"input_tokens":10,"output_tokens":2},"modelUsage":{"claude-stub-1":{"inputTokens":10,"outputTokens":2}}}'
"""  # noqa: E501


@pytest.fixture(scope="module")
def visitor(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    base = tmp_path_factory.mktemp("first")
    (base / "bin").mkdir()
    claude = base / "bin/claude"
    claude.write_text(CLAUDE)
    claude.chmod(0o755)
    home = base / "home"
    home.mkdir()
    path = f"{claude.parent}:{os.environ['PATH']}"
    installation = Installation(base, PATH=path, HOME=str(home))
    with installation.up:
        one = Visitor(chromium, installation)
        yield one
        one.context.close()


def _repository(base: Path) -> Path:
    folder = base / "csvlane"
    folder.mkdir()
    (folder / "REQUIREMENTS.md").write_text("1. It reads files.\n2. It is fast.\n")
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@localhost"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    return folder


def test_from_the_login_link_to_a_running_session(visitor: Visitor) -> None:
    page: Page = visitor.sign_in()
    assert page.url.endswith("/welcome/")
    row = page.locator(".found li", has_text="Claude Code")
    expect(row).to_contain_text("2.1.332", timeout=60_000)  # a worker looked, the page followed
    row.get_by_role("button").click()
    tried = page.locator(".found li", has_text="claude")
    expect(tried).to_contain_text("Answers", timeout=60_000)
    page.get_by_label("Repository on this machine").fill(
        str(_repository(visitor.installation.base))
    )
    page.get_by_role("button", name="Look", exact=True).click()
    expect(page.locator("main")).to_contain_text("Git, branch main")
    page.get_by_role("button", name="Make the project").click()
    expect(page.locator("main")).to_contain_text("2 requirements")
    assert not complaints(page, "/welcome/")
    page.get_by_role("button", name="Start S-1 on csvlane").click()
    page.wait_for_url("**/sessions/1/")
    expect(page.locator("[data-part=rows]")).to_contain_text("Worker", timeout=60_000)
    expect(page.locator("[data-part=cost]")).to_contain_text("What confines the agents")
    page.goto("/settings/agents/")
    expect(page.locator("[data-part=agents]")).to_contain_text("Worker and Reviewer in S-1")
    assert not complaints(page, "/settings/agents/")
    assert not visitor.faults
