"""Whatever a CLI prints, its reader never breaks, and what was said before still counts."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loops.agents.cli.listen import Listener
from loops.agents.events import Kind
from tests.agents_cli.hearing import check, check_usage, every_case, hear, recorded, spoilt
from tests.agents_cli.record import RECORDED, adapter

OURS = ("claude", "codex", "pi")
CASES = [(name, case) for name in OURS for case in every_case(name)]


class Kept:
    """A Control that keeps what it is handed."""

    def __init__(self):
        self.data = b""

    def started(self, process):
        raise AssertionError("no process here")

    def output(self, data):
        self.data += data

    def must_stop(self):
        return False


def listen(name, data):
    control = Kept()
    listener = Listener(control, adapter(name).reader(), (), 90)
    listener.output(data)
    listener.close(1)
    return listener, control.data.decode()


def test_the_three_were_all_recorded():
    assert len(CASES) == 18


@pytest.mark.parametrize(("name", "case"), CASES)
def test_wrong_types_in_any_field_never_break_a_reader(name, case):
    seen = set()
    for line in recorded(name, case):
        shape = (line["type"], line.get("subtype"), str(line.keys()))
        if shape in seen or line["type"] in ("message_update", "turn_end"):
            continue
        seen.add(shape)
        for wrong in spoilt(line):
            reader = adapter(name).reader()
            check(hear(reader, [wrong, wrong]))
            for usage in reader.usages():
                check_usage(usage)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("name", OURS)
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_any_value_in_any_field_never_breaks_a_reader(name, data):
    lines = recorded(name, "ok") + recorded(name, "limit")
    reader = adapter(name).reader()
    for line in data.draw(st.lists(st.sampled_from(lines), max_size=4)):
        fields = st.dictionaries(st.sampled_from(sorted(line)), VALUES, max_size=3)
        check(hear(reader, [{**line, **data.draw(fields)}]))
    for usage in reader.usages():
        check_usage(usage)


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("line", [{}, {"type": "news", "x": [1]}, {"type": None}, {"type": {}}])
def test_what_is_unknown_is_kept_as_it_is(name, line):
    (event,) = hear(adapter(name).reader(), [line])
    assert (event.kind, json.loads(event.text)) == (Kind.RAW, line)


@pytest.mark.parametrize("name", OURS)
def test_garbage_between_the_lines_changes_nothing_and_is_shown(name):
    lines = (RECORDED / name / "ok.jsonl").read_bytes().splitlines(keepends=True)
    garbage = b'\xff\xfe not text\n[1, 2]\n{"type": \n\n' + b"Warning: something\n"
    listener, shown = listen(name, garbage.join([b"", *lines]))
    assert listener.heard.done.ok
    assert listener.heard.last_error is None
    assert sum(usage.input for usage in listener.reader.usages()) == 2000
    assert "Warning: something" in shown
    assert "STUB-DONE: wrote hello.txt" in shown


@pytest.mark.parametrize("name", OURS)
def test_a_last_line_cut_in_the_middle_is_not_taken_for_an_end(name):
    data = (RECORDED / name / "ok.jsonl").read_bytes()
    listener, shown = listen(name, data[:-40])
    assert listener.heard.done is None
    assert "STUB-DONE: wrote hello.txt" in shown


@pytest.mark.parametrize("name", OURS)
def test_a_last_line_without_its_newline_counts(name):
    data = (RECORDED / name / "ok.jsonl").read_bytes()
    listener, _ = listen(name, data.rstrip(b"\n"))
    assert listener.heard.done.ok
