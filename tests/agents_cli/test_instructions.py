"""The real CLIs, where they are installed: what they read of a repository, and how they go on."""

import pytest

from loops.agents.events import Kind
from tests.agents_cli.clis import program
from tests.agents_cli.hearing import only
from tests.agents_cli.launching import Bench
from tests.agents_cli.record import adapter, model
from tests.stub_llm import StubServer

CLIS = ("gemini", "qwen", pytest.param("opencode", marks=pytest.mark.opencode))
# contextFileName adds to GEMINI.md and never replaces it, and there is no other switch.
READS_ANYWAY = ("gemini",)

pytestmark = [pytest.mark.slow, pytest.mark.clis, pytest.mark.once]


@pytest.fixture(params=CLIS)
def cli(request):
    program(request.param)
    return request.param


def run(bench, cli, stub, name, **wish):
    place = {"base_url": stub.url("text", name), "model": model(cli)}
    ran = bench.run(adapter(cli), **place, **wish)
    assert ran.exit_code == 0, ran.errors
    return ran


@pytest.mark.parametrize("is_wanted", [True, False])
def test_the_repositorys_instructions_are_read_where_they_are_wanted(cli, is_wanted, tmp_path):
    bench = Bench(tmp_path / "bench")
    for name in adapter(cli).instructions:
        (bench.clone / name).write_text("The magic word is xyzzy.\n")
    with StubServer() as stub:
        run(bench, cli, stub, "one", loads_instructions=is_wanted)
        was_read = any("xyzzy" in asked.text for asked in stub.asked("one"))
    assert was_read is (is_wanted or cli in READS_ANYWAY)


def test_an_interrupted_conversation_goes_on(cli, tmp_path):
    bench = Bench(tmp_path / "bench")
    with StubServer() as stub:
        first = run(bench, cli, stub, "one", loads_instructions=False)
        conversation = only(first.events(adapter(cli)), Kind.INIT).conversation
        second = run(bench, cli, stub, "two", resume=conversation)
        assert any("STUB-DONE" in asked.text for asked in stub.asked("two"))
    assert only(second.events(adapter(cli)), Kind.INIT).conversation == conversation


def test_the_clone_holds_nothing_of_the_clis_own(cli, tmp_path):
    bench = Bench(tmp_path / "bench")
    with StubServer() as stub:
        run(bench, cli, stub, "one", mcp=("/bin/true",))
        assert {asked.key for asked in stub.asked("one")} == {"local-test-key"}
    assert bench.git("status", "--porcelain", "--ignored") == ""
