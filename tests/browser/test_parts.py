"""What templates promise without a browser: parts stand alone, icons exist, nothing is inline."""

from __future__ import annotations

import re

import pytest

from loops.pages.session import PARTS
from tests.browser import story_pages, story_session, story_tracker
from tests.browser.render import ROOT, engine, pages, prepare, render

SPRITE = ROOT / "templates/parts/_icons.html"
FOLDERS = ("templates", "loops", "tracker", "escalations", "static/js")


def part(template, **context):
    prepare()
    return engine().get_template(template).render(context).strip()


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("shown", ["running", "waiting", "ended", "first_minute"])
def test_a_part_of_the_session_is_the_same_alone_as_in_its_page(name, shown):
    page = getattr(story_session, shown)()
    alone = part(PARTS[name], **{name: getattr(page, name)})
    assert re.match(rf'<\w+[^>]* data-part="{name}"', alone)
    whole = part("loops/session.html", page=page, frame=None)
    assert re.sub(r"\s+", " ", alone) in re.sub(r"\s+", " ", whole)


@pytest.mark.parametrize(
    ("template", "name", "context"),
    [
        ("loops/_index.html", "index", lambda: {"page": story_pages.index()}),
        ("loops/_before.html", "before", lambda: {"page": story_pages.new_session()}),
        ("tracker/_board.html", "board", lambda: {"page": story_tracker.board()}),
        ("tracker/_filing.html", "filing", lambda: {"filing": story_tracker.filing()}),
        ("tracker/_entry.html", "entry", lambda: {"entry": story_tracker.entry().entry}),
        (
            "tracker/_saving.html",
            "saving",
            lambda: {"saving": story_tracker.requirement().editor.saving},
        ),
        ("escalations/_queue.html", "queue", lambda: {"queue": story_pages.queue()}),
    ],
)
def test_other_parts_stand_alone_under_their_name(template, name, context):
    assert re.match(rf'<\w+[^>]* data-part="{name}"', part(template, **context()))


@pytest.mark.parametrize("name", pages())
def test_a_page_has_nothing_that_the_content_policy_forbids(name):
    html = render(name)
    assert not re.search(r"\sstyle=|\son[a-z]+=|javascript:|<style", html)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", html))
    assert not re.search(r"<form(?![^>]*action=)", html)


@pytest.mark.parametrize("name", pages())
def test_a_page_is_told_with_the_words_of_the_vocabulary(name):
    text = re.sub(r"<[^>]+>|pytest\S* \S+", " ", render(name)).lower()
    for word in ("abort", "worktree", "please", "oops", "ticket", "lab"):
        assert not re.search(rf"\b{word.strip()}\b", text), word


def test_the_sprite_holds_every_icon_that_is_used_and_no_other():
    held = set(re.findall(r'id="i-([a-z]+)"', SPRITE.read_text()))
    files = [
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".html", ".py", ".js"} and path != SPRITE
    ]
    told = "\n".join(path.read_text() for path in files)
    story = "\n".join(path.read_text() for path in (ROOT / "tests/browser").glob("story*.py"))
    assert {name for name in held if not re.search(rf'"{name}"|#i-{name}"', told + story)} == set()
    named = r'{% icon "([a-z]+)"|icon="([a-z]+)"|Chip\("[a-z]+", "([a-z]+)"'
    assert {name for found in re.findall(named, told) for name in found if name} <= held
    used = {name for page in pages() for name in re.findall(r'href="#i-([a-z]+)"', render(page))}
    assert used <= held
