"""Every verb of every role as a tool: its schema, and that it does what the command does."""

import json

import jsonschema
import pytest

from loops.engine.contracts import Criterion
from loops.engine.values import Role
from loops.interface import replies
from loops.interface.mcp_server import Refused, command
from loops.interface.tools import tools
from loops.interface.verbs import VERBS
from tests.loops.interface_kit import context_of, desk, new_project
from tracker import services
from tracker.models import Bug

FINDING = {
    "title": "Unknown ids answer 500",
    "cites": "R-1.3",
    "quote": "Answer 404",
    "contradiction": "answers 500",
    "place": "src/api.py:12",
}
PLAN = {
    "summary": "two steps",
    "success_criteria": [{"text": "404 for unknown ids", "traces": "R-1"}],
    "selected_worker": "w1",
}
REPORT = {"status": "FAIL", "score": 3, "feedback": "it answers 500"}
pytestmark = pytest.mark.django_db(transaction=True)


def test_every_role_is_offered_the_verbs_it_is_shown_and_no_other():
    def names(role):
        return {tool["name"] for tool in tools(VERBS, role)["tools"]}

    for role in Role:
        shown = {"_".join(verb.words).replace("-", "_") for verb in VERBS if role in verb.roles}
        assert names(role) == shown
    assert {"done", "not_done", "bug_fixed"} <= names(Role.WORKER)
    assert "review_clean" not in names(Role.WORKER)
    assert names(Role.VERIFIER).isdisjoint({"bug_list", "guidance_show"})


def test_every_schema_is_valid_and_says_what_the_help_says():
    for role in Role:
        for tool in tools(VERBS, role)["tools"]:
            jsonschema.Draft202012Validator.check_schema(tool["schema"])
            assert tool["description"]
            assert "stdin" not in json.dumps(tool)
            assert "$ref" not in json.dumps(tool)
            assert set(tool["arguments"]) == set(tool["schema"]["properties"])
    blocked = _tool(Role.WORKER, "bug_blocked")
    assert blocked["schema"]["required"] == ["key", "why"]
    assert blocked["schema"]["properties"]["why"] == {"type": "string", "description": "text"}
    mark = _tool(Role.REVIEWER, "review_mark")["schema"]["properties"]
    assert mark["verdict"]["enum"] == ["holds"]


def test_the_schemas_of_replies_take_what_the_interface_takes():
    jsonschema.validate(PLAN, replies.plan_schema())
    jsonschema.validate(REPORT, replies.report_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**REPORT, "mood": "good"}, replies.report_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**REPORT, "score": 11}, replies.report_schema())


def _tool(role, name):
    return next(tool for tool in tools(VERBS, role)["tools"] if tool["name"] == name)


# --- every verb: the tool's words do what the command does ----------------------------------------

CALLS = {
    Role.WORKER: [
        ("req_list", {}, ["req", "list"]),
        ("req_show", {"key": "R-1"}, ["req", "show", "R-1"]),
        ("guidance_show", {}, ["guidance", "show"]),
        ("criteria_list", {}, ["criteria", "list"]),
        ("bug_list", {"all": True, "mine": False}, ["bug", "list", "--all"]),
        ("bug_show", {"key": "B-1"}, ["bug", "show", "B-1"]),
        ("bug_start", {"key": "B-1"}, ["bug", "start", "B-1"]),
        ("bug_fixed", {"key": "B-1", "commit": "HEAD"}, ["bug", "fixed", "B-1"]),
        ("bug_blocked", {"key": "T-1", "why": "-x"}, ["bug", "blocked", "T-1", "--why=-x"]),
        (
            "bug_file",
            {"title": "Unclear", "spec": True, "cites": "R-1", "text": "why\nso"},
            ["bug", "file", "--spec", "--cites", "R-1", "--text", "why\nso", "Unclear"],
        ),
        (
            "usage_report",
            {"model": "m", "input": 1200, "output": 300, "cached": 0},
            ["usage", "report", "--model", "m", "--input", "1200", "--output", "300"],
        ),
        ("done", {}, ["done"]),
        ("not_done", {}, ["not-done"]),
    ],
    Role.REVIEWER: [
        ("bug_file", FINDING, None),
        ("bug_close", {"key": "B-1"}, ["bug", "close", "B-1"]),
        ("bug_reopen", {"key": "B-1", "why": "no"}, ["bug", "reopen", "B-1", "--why", "no"]),
        ("bug_confirm", {"key": "B-1"}, ["bug", "confirm", "B-1"]),
        (
            "review_mark",
            {"key": "R-1", "verdict": "holds", "where": "src/api.py:3"},
            ["review", "mark", "R-1", "holds", "--where", "src/api.py:3"],
        ),
        ("review_clean", {}, ["review", "clean"]),
        ("review_bugs", {}, ["review", "bugs"]),
    ],
    Role.COACH: [("guidance_set", {"text": "-- first"}, ["guidance", "set", "--", "-- first"])],
    Role.THINKER: [
        ("plan_submit", {"plan": PLAN}, ["plan", "submit", "-"]),
        ("pool_list", {}, ["pool", "list"]),
    ],
    Role.VERIFIER: [("verdict_submit", {"verdict": REPORT}, ["verdict", "submit", "-"])],
    Role.MAKER: [],
}
CALLS[Role.REVIEWER][0] = (
    "bug_file",
    FINDING,
    ["bug", "file", FINDING["title"]]
    + [part for name, value in FINDING.items() if name != "title" for part in (f"--{name}", value)],
)


def _world(name, role):
    """A project with an entry that the role may work on."""
    project = new_project(name)
    reviewer = context_of(project, Role.REVIEWER, "S-3/2").by
    worker = context_of(project, Role.WORKER, "S-3/1").by
    filed = services.file_code_bug(
        project,
        by=reviewer,
        title="Old",
        cites="R-1.3",
        quote="Answer 404",
        contradiction="answers 403",
        place="src/api.py:1",
        session_ref="S-3",
    )
    services.file_task(project, by=services.person("ada"), title="Task", session_ref="S-3")
    if role is Role.REVIEWER:
        services.start(filed.bug, worker)
        services.mark_fixed(services.get_bug(project, "B-1"), worker, "a" * 40)
    return project


def test_every_verb_of_every_role_is_tried_below():
    tried = {(role, name) for role, calls in CALLS.items() for name, _, _ in calls}
    owners = {name for _, name in tried}
    for role in Role:
        assert {tool["name"] for tool in tools(VERBS, role)["tools"]} <= owners
        for tool in tools(VERBS, role)["tools"]:
            assert any(name == tool["name"] for _, name in tried)


@pytest.mark.parametrize(
    ("role", "name", "arguments", "typed"),
    [(role, *call) for role, calls in CALLS.items() for call in calls],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_a_tool_says_and_does_what_the_command_does(role, name, arguments, typed):
    tool = _tool(role, name)
    jsonschema.validate(arguments, tool["schema"])
    words, stdin = command(tool, arguments)
    by_tool, by_hand = (
        desk(_world(each, role), role, pool=("w1", "w2"), criteria=context_criteria())
        for each in ("tool", "hand")
    )
    given = json.dumps(arguments["plan" if role is Role.THINKER else "verdict"]) if stdin else ""
    answer = by_tool.run(*words, stdin=stdin)
    assert answer == by_hand.run(*typed, stdin=given)
    assert by_tool.collected() == by_hand.collected()
    rows = [
        list(Bug.objects.filter(project=each.context.project).order_by("pk").values(*COMPARED))
        for each in (by_tool, by_hand)
    ]
    assert rows[0] == rows[1]


COMPARED = ("kind", "number", "state", "title", "quote", "contradiction", "text", "place", "commit")


def context_criteria():
    return (Criterion("C-1", "404 for unknown ids", "R-1"),)


def test_what_fits_no_argument_is_refused_with_a_sentence():
    blocked, usage = _tool(Role.WORKER, "bug_blocked"), _tool(Role.WORKER, "usage_report")
    for tool, arguments, sentence in [
        (blocked, {"key": "B-1"}, "`bug_blocked` needs `why`."),
        (blocked, {}, "`bug_blocked` needs `key`, `why`."),
        (blocked, {"key": "B-1", "why": None}, "`bug_blocked` needs `why`."),
        (blocked, {"key": 7, "why": "x"}, "`key` must be text."),
        (blocked, {"key": ["B-1"], "why": "x"}, "`key` must be text."),
        (usage, {"model": "m", "input": "many", "output": 1}, "`input` must be a number."),
        (usage, {"model": "m", "input": True, "output": 1}, "`input` must be a number."),
        (
            blocked,
            {"key": "B-1", "reason": "x"},
            "`bug_blocked` has no argument `reason`; it has: key, why.",
        ),
        (_tool(Role.WORKER, "done"), {"x": 1}, "`done` has no argument `x`; it has none."),
        (
            _tool(Role.WORKER, "bug_list"),
            {"all": "yes"},
            "`all` must be true or false.",
        ),
    ]:
        with pytest.raises(Refused) as refused:
            command(tool, arguments)
        assert str(refused.value) == sentence
