"""Sessions of real coding CLIs and model endpoints, set up in the form, seen live, ended proved."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.agents_cli import clis, minds
from tests.browser.running import NO_RELOAD, Visitor, complaints, part, seen_from
from tests.conftest import TOP
from tests.loops.upping import Installation
from tests.stub_llm import StubServer

pytestmark = [pytest.mark.slow, pytest.mark.once, pytest.mark.clis]
LONG = 300  # seconds in which a loaded machine takes the loop from one event to the next
KEY = "sk-stub-0123456789abcdef0123456789abcdef"
TEAM = {
    "coder": ("claude", minds.worker),
    "critic": ("codex", minds.reviewer),
    "guide": ("pi", minds.coach),
    "planner": ("openai", minds.thinker),
    "builder": ("qwen", minds.maker),
    "judge": ("anthropic", minds.verifier),
}


@pytest.fixture(scope="module")
def stub() -> Iterator[StubServer]:
    with StubServer() as server:
        yield server


@pytest.fixture(scope="module")
def visitor(
    chromium: Browser, stub: StubServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visitor]:
    for adapter in ("claude", "codex", "pi", "qwen"):
        clis.program(adapter)
    base = tmp_path_factory.mktemp("real")
    installation = Installation(base, PATH=clis.path())
    with installation.up:
        one = Visitor(chromium, installation)
        _project(base / "repo", installation)
        _team(stub, installation)
        yield one
        one.context.close()


def _project(repo: Path, installation: Installation) -> None:
    repo.mkdir()
    (repo / "app.txt").write_text("hello\nthis is bad\n")
    git = ["git", "-C", str(repo), "-c", "user.name=t", "-c", "user.email=t@localhost"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    installation.command("project", "add", "p", str(repo))
    spec = repo.parent / "spec.md"
    spec.write_text("app.txt lacks the word bad.\n")
    installation.command("req", "edit", "p", "--file", str(spec))


def _team(stub: StubServer, installation: Installation) -> None:
    subprocess.run(
        [sys.executable, str(TOP / "manage.py"), "secret", "set", "stub-key"],
        input=KEY, text=True, check=True, env=installation.env, capture_output=True,
    )  # fmt: skip
    for name, (adapter, mind) in TEAM.items():
        stub.script(name, mind)
        base = stub.url("ok", name) + ("/v1" if adapter == "openai" else "")
        installation.command(
            "agent", "add", name, "--adapter", adapter, "--model", f"model-of-{name}",
            "--base-url", base, "--key", "stub-key",
        )  # fmt: skip


@pytest.fixture(scope="module")
def home(visitor: Visitor) -> Page:
    return visitor.sign_in()


def shoot(page: Page, name: str) -> None:
    """Only where somebody wants to look: LOOPWATCH_SHOTS names a folder."""
    if folder := os.environ.get("LOOPWATCH_SHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def start(page: Page) -> str:
    """The number of the session that begins."""
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/sessions/*/", timeout=120_000)
    page.evaluate(NO_RELOAD)
    return page.url.rstrip("/").rpartition("/")[2]


def end(page: Page, visitor: Visitor, number: str) -> None:
    over = ("Done", "Waiting for human", "Failed", "Exhausted")
    seen_from(page, lambda: any(word in part(page, "status") for word in over), within=LONG)
    assert "Done" in part(page, "status"), told(visitor, number)
    assert page.evaluate("window.neverReloaded")


def told(visitor: Visitor, number: str) -> str:
    """For a failed test: what every iteration did and said."""
    rows = visitor.installation.rows(
        "SELECT i.number, i.role, i.outcome, i.detail, coalesce((SELECT group_concat(text, '') "
        "FROM loops_outputpiece p WHERE p.iteration_id = i.id ORDER BY p.seq), '') "
        f"FROM loops_iteration i WHERE i.session_id = {int(number)} ORDER BY i.number"
    )
    return "\n".join(" ".join(map(str, row)) for row in rows)


def roles_in(visitor: Visitor, table: str, number: str) -> set[str]:
    sql = f"SELECT DISTINCT role FROM {table} WHERE session_id = {int(number)}"
    return {role for (role,) in visitor.installation.rows(sql)}


def test_claude_works_codex_reviews_pi_coaches_and_it_ends_done(
    visitor: Visitor, home: Page
) -> None:
    page = home
    page.goto("/sessions/new/")
    page.locator("input[name=pattern][value=single_thread]").check()
    for role, name in (("worker", "coder"), ("reviewer", "critic"), ("coach", "guide")):
        page.select_option(f"#id_{role}", name)
    page.fill("#id_review_every", "1")
    page.fill("#id_coach_every", "2")
    number = start(page)
    commands = page.locator("[data-log] li.cmd", has_text="$ Bash")
    seen_from(page, commands.count, within=LONG, what="a command in the live output")
    shoot(page, "claude-live")
    end(page, visitor, number)
    shoot(page, "claude-done")
    bug = visitor.installation.rows("SELECT kind, state, number FROM tracker_bug")
    assert bug == [("code", "CLOSED", 1)], told(visitor, number)
    three = {"worker", "reviewer", "coach"}
    assert roles_in(visitor, "loops_iteration", number) == three
    assert roles_in(visitor, "loops_ledgerentry", number) == three
    versions = visitor.installation.rows("SELECT DISTINCT version FROM loops_iteration")
    assert len(versions) == 3
    assert ("",) not in versions
    assert not complaints(page, "session of real CLIs")


def test_endpoints_think_and_verify_what_qwen_works_and_it_ends_done(
    visitor: Visitor, home: Page
) -> None:
    page = home
    page.goto("/sessions/new/")
    page.locator("input[name=pattern][value=thinker_worker_verifier]").check()
    page.select_option("#id_thinker", "planner")
    page.fill("#id_pool-0-name", "qwen")
    page.select_option("#id_pool-0-agent", "builder")
    page.select_option("#id_verifiers-0-agent", "judge")
    number = start(page)
    end(page, visitor, number)
    shoot(page, "endpoints-done")
    three = {"thinker", "worker", "verifier"}
    assert roles_in(visitor, "loops_iteration", number) == three
    assert roles_in(visitor, "loops_ledgerentry", number) == three


def test_the_key_stands_nowhere_and_the_pages_had_no_fault(visitor: Visitor) -> None:
    with sqlite3.connect(visitor.installation.data / "db.sqlite3") as link:
        assert KEY not in "\n".join(link.iterdump())
    assert KEY not in visitor.installation.up.log()
    assert not visitor.faults
