"""An agent's output becomes text in order, without secrets, in bounded memory."""

import base64
import json
import threading
import tracemalloc
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loops.agents.output import (
    LONGEST_PIECE,
    ROOM,
    OutputWriter,
    Oversized,
    json_lines,
    plain,
)
from loops.agents.redact import MARKER, Redactor, redact
from tests.loops.agent_programs.kit import wait_until

SECRET = 'sk-live "\\/+ü$42'


def stored(chunks, secrets=()):
    pieces = []
    writer = OutputWriter(pieces.extend, secrets)
    for chunk in chunks:
        while not writer.write(chunk):
            pass
    writer.close()
    return pieces


def text_of(pieces):
    return "".join(piece.text for piece in pieces)


def cut(data, places):
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


# --- O1: escapes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("\x1b[1;31mall\x1b[0m \x1b[32mdone\x1b[0m", "all done"),
        ("DO\x1b[1mNE\x1b[m", "DONE"),
        ("\x1b]0;a title\x07ready", "ready"),
        ("\x1b]8;;http://127.0.0.1\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[?25l\x1b[2Kx\x1b(By\x1b=z", "xyz"),
        ("\x9b31mred\x9b0m", "red"),
        ("cut off \x1b[3", "cut off "),
        ("tabs\tand\nlines stay", "tabs\tand\nlines stay"),
    ],
)
def test_O1_escapes_are_stripped_for_matching(raw, read):
    assert plain(raw) == read


def test_O1_the_raw_text_is_kept_for_display():
    raw = "DO\x1b[1mNE\x1b[m\n"
    assert text_of(stored([raw.encode()])) == raw


@given(st.text(alphabet="\x1b\x9b[]();m0\x07\\ab\n", max_size=60))
def test_O1_nothing_that_a_person_would_read_is_left_as_an_escape(raw):
    assert "\x1b" not in plain(raw)


# --- O2: bytes -----------------------------------------------------------------------------------


def test_O2_invalid_bytes_become_replacement_characters_and_nul_goes():
    assert text_of(stored([b"a\x00b\xf0", b"c\xf0"])) == "ab\ufffdc\ufffd"


def test_O2_a_character_split_over_two_reads_is_whole():
    assert text_of(stored([b"\xe2\x82", b"\xac"])) == "€"


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=12))
def test_O2_any_cut_of_any_bytes_stores_the_same_text(data, places):
    assert text_of(stored(cut(data, places))) == data.decode("utf-8", "replace").replace("\0", "")


# --- O3: long lines, order, memory ---------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", ""])
def test_O3_a_json_line_of_5_MiB_is_kept_in_pieces_and_parsed_whole(end):
    value = {"text": "é" * (5 * 1024 * 1024 // 2), "separators": "\u2028\x85"}
    line = json.dumps(value, ensure_ascii=False) + end
    data = ("noise\n" + line).encode()
    pieces = stored(data[at : at + 65536] for at in range(0, len(data), 65536))
    assert text_of(pieces) == "noise\n" + line
    assert max(len(piece.text) for piece in pieces) <= LONGEST_PIECE
    assert [piece.continued for piece in pieces[-2:]] == [True, not end]
    assert list(json_lines(piece.text for piece in pieces)) == [value]


def test_O3_a_json_line_beyond_the_maximum_is_named_and_never_held_in_memory():
    part = "x" * 100_000
    texts = ['{"a": "', *[part] * 500, '"}\n', '{"b": 1}\n']
    tracemalloc.start()
    try:
        found = list(json_lines(iter(texts), longest=1_000_000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == [Oversized(50_000_010), {"b": 1}]
    assert peak < 3_000_000


def test_json_lines_skips_what_is_no_json_value():
    lines = ["plain\n[broken\n", "3\n", ' {"a":', " 1}\r\n", "[" * 100_000, "\n[2]"]
    assert list(json_lines(lines)) == [{"a": 1}, [2]]


def test_pieces_are_numbered_without_gap_and_their_offsets_count_bytes():
    pieces = stored(["zwölf\n".encode() * 30_000])
    assert len(pieces) > 2
    assert [piece.number for piece in pieces] == list(range(1, len(pieces) + 1))
    for before, after in pairwise(pieces):
        assert after.offset == before.offset + len(before.text.encode())
        assert before.text.endswith("\n")
        assert not before.continued


def test_a_short_call_is_stored_once_by_whoever_closes_it():
    calls = []
    writer = OutputWriter(lambda pieces: calls.append((threading.current_thread(), pieces)))
    writer.write(b"one\n")
    writer.write(b"two")
    writer.close()
    assert len(calls) == 1
    assert calls[0][0] is threading.current_thread()
    assert text_of(calls[0][1]) == "one\ntwo"


def test_what_an_agent_prints_before_it_thinks_is_stored_without_waiting_for_more():
    pieces = []
    writer = OutputWriter(pieces.extend)
    writer.write(b"thinking ...")
    wait_until(lambda: text_of(pieces) == "thinking ...")
    assert pieces[0].continued
    writer.close()


def test_a_store_that_hangs_bounds_the_memory_and_takes_no_call_hostage():
    hang = threading.Event()
    pieces = []

    def store(batch):
        hang.wait(30)
        pieces.extend(batch)

    writer = OutputWriter(store)
    taken = 0
    while writer.write(b"x" * 65536):
        taken += 65536
        assert taken <= ROOM + 65536
    assert not writer.write(b"more")
    hang.set()
    wait_until(lambda: writer.write(b"end"))
    writer.close()
    assert text_of(pieces) == "x" * taken + "end"


def test_a_store_that_fails_gets_the_same_pieces_again():
    offered = []

    def store(batch):
        offered.append(list(batch))
        if len(offered) < 3:
            raise OSError("database is locked")

    writer = OutputWriter(store)
    writer.write(b"kept\n")
    wait_until(lambda: len(offered) == 3)
    writer.close()
    assert offered[0] == offered[1] == offered[2]


def test_a_store_that_never_works_is_reported_at_the_end():
    def store(batch):
        raise OSError("disk full")

    writer = OutputWriter(store)
    writer.write(b"lost?\n")
    with pytest.raises(OSError, match="disk full"):
        writer.close()


# --- O15: secrets --------------------------------------------------------------------------------

FORMS = {
    "as it is": SECRET,
    "URL-encoded": quote(SECRET, safe=""),
    "URL-encoded in small letters": quote(SECRET, safe="").lower(),
    "JSON": json.dumps(SECRET)[1:-1],
    "JSON in JSON": json.dumps(json.dumps(SECRET))[1:-1].strip('\\"'),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64 of user:secret": base64.b64encode(f"user:{SECRET}".encode()).decode(),
    "base64 of me:secret": base64.b64encode(f"me:{SECRET}!".encode()).decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_O15_a_secret_is_removed_in_every_form_and_marked_wherever_it_is_cut(form):
    data = f"key={form}; go on\n".encode()
    whole = text_of(stored([data], [SECRET]))
    assert MARKER in whole
    assert form not in whole
    assert whole.endswith("; go on\n")
    for at in range(len(data)):
        assert text_of(stored([data[:at], data[at:]], [SECRET])) == whole
    assert text_of(stored([bytes([byte]) for byte in data], [SECRET])) == whole


def test_O15_a_key_of_several_lines_is_removed_line_by_line():
    key = "-----BEGIN KEY-----\n" + "\n".join(c * 40 for c in "abc") + "\n-----END KEY-----\n"
    assert redact(f"{key}", [key]) == MARKER
    assert "b" * 40 not in redact("  3: " + "b" * 40, [key])
    assert "c" * 40 not in redact(key.replace("\n", "\r\n"), [key])


def test_O15_the_longest_of_nested_secrets_is_removed_whole():
    assert redact("x abcdefgh y abcdz", ["abcd", "abcdefgh"]) == f"x {MARKER} y {MARKER}z"


def test_an_empty_or_tiny_value_is_no_secret():
    assert redact("a b c", ["", "a", "b c"]) == "a b c"


def test_text_that_cannot_become_a_secret_is_not_held_back():
    redactor = Redactor(["hunter22"])
    assert redactor.feed("my hun") == "my "
    assert redactor.feed("ch\n") == "hunch\n"
    assert redactor.feed("hunter2") == ""
    assert redactor.finish() == "hunter2"


# None that could make up a secret together with the marker's own text.
letters = st.text(alphabet="ABab/+", min_size=4, max_size=9)


@settings(max_examples=300)
@given(st.data(), st.lists(letters, min_size=1, max_size=4))
def test_O15_no_secret_survives_any_cut_and_the_cut_changes_nothing(data, secrets):
    parts = data.draw(
        st.lists(st.one_of(st.sampled_from(secrets), st.text("ABab/+\n", max_size=5)))
    )
    text = "".join(parts)
    places = data.draw(st.lists(st.integers(0, 60), max_size=10))
    redactor = Redactor(secrets)
    out = "".join(redactor.feed(chunk) for chunk in cut(text, places)) + redactor.finish()
    assert out == redact(text, secrets)
    for secret in secrets:
        assert not any(secret in rest for rest in out.split(MARKER))
