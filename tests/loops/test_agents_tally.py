"""What a command agent used is found in its output, however it tells it."""

import pytest

from loops.agent_settings import AgentConfig
from loops.agents.command import CommandAgent
from loops.agents.events import Usage
from loops.agents.tally import Tally, fault
from loops.engine.values import Fault
from tests.loops.agent_programs.kit import Recorder, make_call, python

AIDER = {"input": r"Tokens: (\S+) sent", "output": r"(\S+) received"}
PATHS = {
    "input": "$.usage.input_tokens",
    "cached": "$.usage.details[0].cached",
    "output": "$.usage.out",
}


def counted(patterns, *pieces, model="m"):
    tally = Tally(Recorder(), patterns, model)
    for piece in pieces:
        tally.output(piece.encode())
    return tally.usages()


@pytest.mark.parametrize(
    ("patterns", "pieces", "used"),
    [
        (AIDER, ["Tokens: 1.0k sent, 50 received.\n"], (1000, 0, 50)),
        (AIDER, ["Tok", "ens: 1,234 sent, 2.5M rec", "eived."], (1234, 0, 2_500_000)),
        (AIDER, ["Tokens: 10 sent, 5 received.\n" * 3], (30, 0, 15)),
        (AIDER, ["\x1b[1mTokens: \x1b[32m7\x1b[0m sent, 1 received\n"], (7, 0, 1)),
        (PATHS, ['{"usage": {"input_tokens": 9, "details": [{"cached": 4}], "out": 2}}\n'],
         (9, 4, 2)),
        (PATHS, ["noise\n[1]\n{broken\n", '{"usage": {"input_tokens": "12"}}'], (12, 0, 0)),
    ],
)  # fmt: skip
def test_every_match_is_added(patterns, pieces, used):
    asked, cached, said = used
    assert counted(patterns, *pieces) == (
        Usage(model="m", input=asked, cached=cached, output=said),
    )


@pytest.mark.parametrize(
    "text",
    ["nothing", "Tokens: many sent", '{"usage": null}', '{"usage": {"input_tokens": true}}', "[]"],
)
def test_what_is_not_told_is_not_counted_as_nothing_used(text):
    assert counted({**AIDER, **PATHS}, text) == ()


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "no regular expression"),
        ("Tokens", "one group"),
        ("(a)(b)", "one group"),
        ("$", "JSON path"),
        ("$.a..b", "JSON path"),
        ("$.a[x]", "JSON path"),
        ("$.a[0].b-c", ""),
        (r"(\d+) sent", ""),
    ],
)
def test_a_pattern_that_cannot_work_is_refused_with_what_is_wrong(pattern, words):
    assert words in fault(pattern)
    assert bool(fault(pattern)) == bool(words)
    if words:
        with pytest.raises(ValueError, match="the pattern for input tokens"):
            AgentConfig(argv=["x"], usage={"input": pattern})


def test_the_call_of_a_command_agent_carries_it(tmp_path):
    code = "print('working'); print('Tokens: 2k sent, 30 received.')"
    agent = CommandAgent(argv=python(code), model="house", usage=AIDER)
    reply = agent.run(make_call(tmp_path), control := Recorder())
    assert reply.fault is None
    assert reply.usages == (Usage(model="house", input=2000, output=30),)
    assert control.text.startswith("working\n")


def test_a_call_that_failed_is_paid_too(tmp_path):
    code = "import sys; print('Tokens: 5 sent, 1 received.'); sys.exit(3)"
    reply = CommandAgent(argv=python(code), usage=AIDER).run(make_call(tmp_path), Recorder())
    assert reply.fault is Fault.CRASH
    assert reply.usages == (Usage(model="", input=5, output=1),)
