"""What a launch really does: the installed CLIs against the stub, each claim of their adapters."""

import json
import socket
import sys
from pathlib import Path

import pytest

from loops.agents.events import Kind
from tests.agents_cli.clis import program
from tests.agents_cli.hearing import hear, kinds, recorded
from tests.agents_cli.launching import KEY, Bench
from tests.agents_cli.record import CASES, adapter, model
from tests.stub_llm import StubServer, nobody

OURS = ("claude", "codex", "pi")
SERVER = Path(__file__).parent / "tracker_server.py"
pytestmark = [pytest.mark.clis, pytest.mark.once]
each = pytest.mark.parametrize("name", OURS)


@pytest.fixture(scope="module")
def stub():
    with StubServer() as server:
        yield server


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "bench")


def run(bench, name, address, **wish):
    program(name)
    return bench.run(adapter(name), base_url=address, model=model(name), **wish)


@each
@pytest.mark.parametrize("case", sorted(CASES.keys() - {"killed"}))
def test_it_still_says_what_was_recorded(stub, bench, name, case):
    ran = run(bench, name, stub.url(CASES[case], bench.mark))
    told = kinds(ran.events(adapter(name)))
    assert told == kinds(hear(adapter(name).reader(), recorded(name, case)))
    assert {asked.key for asked in stub.asked(bench.mark)} == {KEY}
    assert (bench.clone / "hello.txt").exists() is (case in ("ok", "hiccup"))


@each
@pytest.mark.parametrize(("is_confined", "place"), [(True, "."), (False, "part")])
def test_it_can_commit_with_our_sandbox_or_without(stub, bench, name, is_confined, place):
    (bench.clone / "part").mkdir()
    commit = "echo x > a.txt && git add -A && git commit -qm Work && echo COMMITTED"
    stub.script(bench.mark, [{"shell": commit}, {"text": "done"}])
    address = stub.url("ok", bench.mark)
    run(bench, name, address, is_confined=is_confined, workdir=bench.clone / place)
    assert "COMMITTED" in stub.asked(bench.mark)[-1].results[-1]
    assert bench.git("log", "-1", "--format=%s") == "Work"
    assert bench.git("ls-files", "*a.txt") == str(Path(place) / "a.txt")


@pytest.mark.parametrize("name", ["claude", "codex"])
@pytest.mark.parametrize("is_confined", [True, False])
def test_it_calls_the_tracker_which_knows_the_call(stub, bench, name, is_confined):
    log = bench.tmp / "calls.jsonl"
    stub.script(bench.mark, [{"tool": ["tracker_note", {"note": "a bug"}]}, {"text": "done"}])
    ran = run(
        bench,
        name,
        stub.url("ok", bench.mark),
        mcp=(sys.executable, str(SERVER), str(log)),
        is_confined=is_confined,
    )
    (called,) = map(json.loads, log.read_text().splitlines())
    assert called["arguments"] == {"note": "a bug"}
    assert called["env"] == {
        "LOOPWATCH_SOCKET": str(bench.tmp / "socket"),
        "LOOPWATCH_TOKEN": "token-of-the-iteration",
        "RUN_MARK": bench.mark,
    }
    assert kinds(ran.events(adapter(name)))[-4:] == ["tool_call", "tool_result", "text", "done"]


def plant(clone):
    """Instructions of every kind, and settings that would run code or send the key elsewhere."""
    settings = {
        "env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"},
        "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch HOOK-RAN"}]}]},
    }
    server = {"mcpServers": {"theirs": {"command": "touch", "args": ["MCP-RAN"]}}}
    texts = {
        "CLAUDE.md": "MARK-INSTRUCTIONS",
        "AGENTS.md": "MARK-INSTRUCTIONS",
        ".claude/settings.json": json.dumps(settings),
        ".mcp.json": json.dumps(server),
        ".codex/config.toml": '[mcp_servers.theirs]\ncommand = "touch"\nargs = ["MCP-RAN"]\n',
        ".codex/hooks.json": json.dumps({"hooks": settings["hooks"]}),
        ".pi/SYSTEM.md": "MARK-SYSTEM",
        ".pi/APPEND_SYSTEM.md": "MARK-APPENDED",
        ".pi/extensions/x.ts": (
            'import * as fs from "node:fs"; fs.writeFileSync("EXTENSION-RAN", "");'
            " export default function (pi) {}\n"
        ),
    }
    for folder in (".agents", ".claude", ".codex", ".pi"):
        about = "---\nname: foo\ndescription: MARK-SKILL\n---\nx\n"
        texts[f"{folder}/skills/foo/SKILL.md"] = about
    for name, text in texts.items():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(text)


@each
@pytest.mark.parametrize("loads", [True, False])
def test_it_reads_the_repositorys_instructions_as_wished_and_never_runs_its_code(
    stub, bench, name, loads
):
    plant(bench.clone)
    run(bench, name, stub.url("ok", bench.mark), loads_instructions=loads)
    said = " ".join(asked.text for asked in stub.asked(bench.mark))
    assert ("MARK-INSTRUCTIONS" in said) is loads
    assert loads or "MARK-" not in said
    assert (bench.clone / "hello.txt").exists()
    assert not list(bench.clone.rglob("*-RAN"))


@each
def test_an_interrupted_conversation_goes_on_and_nothing_is_counted_twice(stub, bench, name):
    first = run(bench, name, stub.url("ok", f"{bench.mark}-1"))
    conversation = first.events(adapter(name))[0].conversation
    again = run(bench, name, stub.url("text", f"{bench.mark}-2"), resume=conversation)
    assert "STUB-DONE: wrote hello.txt" in stub.asked(f"{bench.mark}-2")[0].text
    reader = adapter(name).reader()
    hear(reader, map(json.loads, again.lines))
    # codex counts the conversation; the interrupted call would have told nothing of itself.
    assert reader.usages()[0].input == (3000 if name == "codex" else 1000)


@each
def test_a_refused_connection_is_told(bench, name):
    with nobody() as address:
        ran = run(bench, name, address, seconds=6)
    told = [event for event in ran.events(adapter(name)) if event.kind in (Kind.RETRY, Kind.ERROR)]
    assert told
    assert all("onnect" in event.text or event.kind is Kind.RETRY for event in told)


def test_codexs_own_sandbox_holds_without_ours(stub, bench):
    with socket.create_server(("127.0.0.1", 0)) as here:
        port = here.getsockname()[1]
        outside = bench.home / "outside"
        reach = f"python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 3)'"
        tries = (
            f"touch {outside} || echo KEPT-IN; {reach} || echo CUT-OFF; echo y > in && echo WROTE"
        )
        stub.script(bench.mark, [{"shell": tries}, {"text": "done"}])
        run(bench, "codex", stub.url("ok", bench.mark), is_confined=False)
    said = stub.asked(bench.mark)[-1].results[-1]
    if "bwrap" in said or "WROTE" not in said:
        pytest.skip(f"codex's sandbox does not work here: {said}")
    assert "KEPT-IN" in said
    assert "CUT-OFF" in said
    assert not outside.exists()


def test_claude_works_in_the_clone_and_in_no_tree_beside_it(stub, bench):
    steps = [{"tool": ["EnterWorktree", {}]}, {"shell": "pwd"}, {"text": "done"}]
    stub.script(bench.mark, steps, per_request=True)
    run(bench, "claude", stub.url("ok", bench.mark))
    assert "EnterWorktree" not in stub.asked(bench.mark)[0].tools
    assert bench.git("worktree", "list").count("\n") == 0


def test_codex_keeps_the_key_from_the_commands_that_its_model_runs(stub, bench):
    stub.script(bench.mark, [{"shell": "env; echo SEEN"}, {"text": "done"}])
    run(bench, "codex", stub.url("ok", bench.mark))
    said = stub.asked(bench.mark)[-1].results[-1]
    assert "SEEN" in said
    assert KEY not in said
    assert "LOOPWATCH_TOKEN=" in said  # for the `loopwatch` command
