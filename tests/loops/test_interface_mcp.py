"""`loopwatch mcp`: a real client of the protocol, the real program, a real socket and real rows."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from loops.agents.confine import Confinement, confine
from loops.engine.values import Role, Signal
from loops.folders import PACKAGES
from loops.interface.install import install
from loops.interface.mcp_server import MOST_OUTPUT
from loops.interface.server import Interface
from tests.conftest import require
from tests.loops.interface_kit import context_of, new_project
from tracker import services
from tracker.models import Bug, GuidanceVersion, Mark

TOKEN = "t0ken-of-the-iteration"
FINDING = {
    "title": "Unknown ids answer 500",
    "cites": "R-1.3",
    "quote": "Answer 404",
    "contradiction": "answers 500",
    "place": "src/api.py:12",
}
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="lw") as name:
        yield Path(name)


@asynccontextmanager
async def client(folder, *, argv=None, env=None):
    program = install(folder / "bin")
    command, *args = argv or [str(program), "mcp"]
    inside = {"LOOPWATCH_SOCKET": str(folder / "s"), "LOOPWATCH_TOKEN": TOKEN}
    server = StdioServerParameters(
        command=command, args=args, env={"PATH": os.environ["PATH"], **(env or inside)}
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


def text(result):
    (part,) = result.content
    return part.text


def talk(folder, said, **how):
    """Runs `said(session)` with a session of the protocol."""

    async def run():
        async with client(folder, **how) as session:
            return await asyncio.wait_for(said(session), 60)

    return asyncio.run(run())


def test_a_reviewer_files_marks_and_signals(folder):
    project = new_project()

    async def said(session):
        listed = await session.list_tools()
        assert {"bug_file", "review_mark", "review_bugs"} <= {tool.name for tool in listed.tools}
        for tool in listed.tools:
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        filed = await session.call_tool("bug_file", FINDING)
        assert (filed.is_error, text(filed)) == (False, "B-1 OPEN: filed.\n")
        where = {"key": "R-2", "verdict": "holds", "where": "src/api.py:3"}
        assert not (await session.call_tool("review_mark", where)).is_error
        return await session.call_tool("review_bugs", {})

    with Interface(folder / "s", TOKEN, context_of(project, Role.REVIEWER)) as interface:
        last = talk(folder, said)
    assert text(last) == f"Noted: {Signal.REVIEW_BUGS.value}.\n"
    bug = Bug.objects.get()
    assert (bug.title, bug.place, bug.quote) == (FINDING["title"], "src/api.py:12", "Answer 404")
    assert Mark.objects.get().requirement.key == "R-2"
    assert interface.collected().signal is Signal.REVIEW_BUGS


def test_refusals_are_results_with_a_sentence_and_never_a_traceback(folder):
    async def said(session):
        refused = [
            await session.call_tool("bug_show", {"key": "B-99"}),
            await session.call_tool("bug_show", {"key": 99}),
            await session.call_tool("bug_show", {}),
            await session.call_tool("review_clean", {}),
            await session.call_tool("no_such_tool", {}),
        ]
        assert not (await session.call_tool("req_list", {})).is_error  # it goes on
        return refused

    with Interface(folder / "s", TOKEN, context_of(new_project(), Role.WORKER)):
        refused = talk(folder, said)
    assert all(each.is_error for each in refused)
    unknown, wrong, missing, others, nothing = map(text, refused)
    assert "B-99" in unknown
    assert wrong == "`key` must be text."
    assert missing == "`bug_show` needs `key`."
    assert others.startswith("There is no tool `review_clean` for the worker; yours: ")
    assert nothing.startswith("There is no tool `no_such_tool` for the worker")
    assert not any("Traceback" in text(each) for each in refused)


def test_calls_at_the_same_time_are_all_answered(folder):
    async def said(session):
        return await asyncio.gather(
            *(session.call_tool("guidance_set", {"text": f"word {n}"}) for n in range(30)),
            session.call_tool("req_list", {}),
        )

    with Interface(folder / "s", TOKEN, context_of(new_project(), Role.COACH)):
        answers = talk(folder, said)
    assert not [text(each) for each in answers if each.is_error]
    assert GuidanceVersion.objects.count() == 30


def test_a_call_that_is_given_up_disturbs_no_other(folder):
    slow = {"on": True}

    def head():
        while slow["on"]:
            time.sleep(0.05)
        return "a" * 40

    async def said(session):
        await session.list_tools()
        call = asyncio.create_task(session.call_tool("bug_fixed", {"key": "B-1"}))
        await asyncio.sleep(0.5)
        call.cancel()
        slow["on"] = False
        return await session.call_tool("req_list", {})

    project = new_project()
    with Interface(folder / "s", TOKEN, replace(context_of(project, Role.WORKER), head=head)):
        assert "R-1" in text(talk(folder, said))


def test_a_long_answer_is_cut_and_says_so(folder):
    project = new_project()
    long = "\n".join(["x" * 99] * 900)
    services.edit_requirement(project, "R-2", text=long, by=services.person("ada"))

    async def said(session):
        return await session.call_tool("req_show", {"key": "R-2"})

    with Interface(folder / "s", TOKEN, context_of(project, Role.WORKER)):
        shown = text(talk(folder, said))
    assert MOST_OUTPUT < len(shown) < MOST_OUTPUT + 100
    assert shown.endswith("ask for less]")


def test_another_token_is_told_so(folder):
    async def said(session):
        with pytest.raises(Exception, match="not the token of the running iteration"):
            await session.list_tools()
        return await session.call_tool("done", {})

    with Interface(folder / "s", "another", context_of(new_project(), Role.WORKER)) as interface:
        refused = talk(folder, said)
    assert refused.is_error
    assert "not the token of the running iteration" in text(refused)
    assert interface.collected().signal is None


async def _until_it_ends(session):
    for _ in range(100):
        await asyncio.sleep(0.2)
        await session.send_ping()


def test_after_the_iteration_a_call_says_that_it_is_over_and_the_server_ends(folder):
    interface = Interface(folder / "s", TOKEN, context_of(new_project(), Role.WORKER))
    interface.start()

    async def said(session):
        await session.list_tools()
        interface.close()
        over = await session.call_tool("done", {})
        with pytest.raises(Exception, match=r"(?i)closed"):
            await _until_it_ends(session)
        return over

    over = talk(folder, said)
    assert over.is_error
    assert text(over).startswith("The iteration is over")
    assert interface.collected().signal is None


def test_it_ends_when_its_standard_input_closes(folder):
    program = install(folder / "bin")
    with Interface(folder / "s", TOKEN, context_of(new_project(), Role.WORKER)):
        server = subprocess.Popen(
            [str(program), "mcp"],
            env={"LOOPWATCH_SOCKET": str(folder / "s"), "LOOPWATCH_TOKEN": TOKEN},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = server.communicate(b"not json\n", timeout=60)
    assert server.returncode == 0
    assert b"Traceback" not in out + err


def test_outside_an_iteration_it_says_so(folder):
    program = install(folder / "bin")
    ran = subprocess.run([str(program), "mcp"], env={}, capture_output=True, timeout=60)
    assert ran.returncode == 2
    assert b"only inside an iteration" in ran.stderr


def test_a_cli_that_gives_its_tools_no_environment_names_socket_and_token_file(folder):
    program = install(folder / "bin")
    (folder / "token").write_text(TOKEN + "\n")
    argv = [str(program), "mcp", "--socket", str(folder / "s")]
    argv += ["--token-file", str(folder / "token")]

    async def said(session):
        return await session.call_tool("done", {})

    with Interface(folder / "s", TOKEN, context_of(new_project(), Role.WORKER)) as interface:
        assert not talk(folder, said, argv=argv, env={"LANG": "C"}).is_error
    assert interface.collected().signal is Signal.DONE


def test_it_works_in_the_sandbox_and_loads_nothing_of_the_supervisor(folder):
    require("bwrap")
    (folder / "data" / "bin").mkdir(parents=True)
    (folder / "socket").mkdir()
    program = install(folder / "data" / "bin")
    argv = confine(
        [str(program), "mcp"],
        cwd=Path("/"),
        readable=[program.parent, PACKAGES, folder / "socket"],
        hidden=[folder / "data", PACKAGES.parent],
        mode=Confinement.BUBBLEWRAP,
    )
    env = {"LOOPWATCH_SOCKET": str(folder / "socket" / "s"), "LOOPWATCH_TOKEN": TOKEN}

    async def said(session):
        listed = await session.list_tools()
        assert "done" in {tool.name for tool in listed.tools}
        return await session.call_tool("done", {})

    with Interface(folder / "socket" / "s", TOKEN, context_of(new_project(), Role.WORKER)) as desk:
        assert not talk(folder, said, argv=argv, env=env).is_error
    assert desk.collected().signal is Signal.DONE


def test_the_server_imports_neither_django_nor_the_interface():
    module = PACKAGES / "interface" / "mcp_server.py"
    look = (
        "import runpy, sys; runpy.run_path(sys.argv[1], run_name='looked_at');"
        "print([name for name in sys.modules if name.split('.')[0] in ('django', 'loops')])"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-c", look, str(module)], capture_output=True, timeout=60
    )
    assert (ran.returncode, ran.stdout) == (0, b"[]\n"), ran.stderr
