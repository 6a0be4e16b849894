"""Entries, configurations and states survive being stored, and damage is noticed."""

import json
import types
import typing
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loops.engine import controllers
from loops.engine.controllers import (
    config_from_json,
    config_to_json,
    entry_from_json,
    entry_to_json,
    state_from_json,
    state_to_json,
)
from loops.engine.values import (
    Config,
    Configured,
    Decided,
    Evidence,
    HumanEvent,
    Limits,
    Opened,
    Outcome,
    Recorded,
)
from tests.engine.log import Log


def values_of(hint):
    """Any value of an annotated type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*map(values_of, arguments))
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
    if origin is not None:
        return st.dictionaries(st.text(max_size=5), values_of(arguments[1]), max_size=2)
    if hint is type(None):
        return st.none()
    if hint is float:
        return st.floats(allow_nan=False, allow_infinity=False)
    if issubclass(hint, Enum):
        return st.sampled_from(hint)
    if is_dataclass(hint):
        return instances(hint)
    return {str: st.text(max_size=9), int: st.integers(), bool: st.booleans()}[hint]


def instances(kind):
    hints = typing.get_type_hints(kind)
    given_, maybe = {}, {}
    for field in fields(kind):
        has_default = field.default is not MISSING or field.default_factory is not MISSING
        (maybe if has_default else given_)[field.name] = values_of(hints[field.name])
    return st.fixed_dictionaries(given_, optional=maybe).map(lambda chosen: kind(**chosen))


ENTRIES = st.one_of(*map(instances, (Opened, Configured, Recorded, HumanEvent, Decided)))


@settings(max_examples=80, deadline=None)
@given(ENTRIES)
def test_every_entry_survives_json(entry):
    kind, payload = entry_to_json(entry)
    assert "seq" not in payload
    assert entry_from_json(entry.seq, kind, json.loads(json.dumps(payload))) == entry


@settings(max_examples=50, deadline=None)
@given(instances(Config))
def test_every_configuration_survives_json(settings_):
    assert config_from_json(json.loads(json.dumps(config_to_json(settings_)))) == settings_


def test_a_stored_configuration_does_not_hang_on_todays_defaults():
    stored = config_to_json(Config())
    assert stored["limits"]["iterations"] == Limits().iterations
    assert (stored["review_every"], stored["has_coach"]) == (3, True)


def test_what_stands_for_success_is_not_taken_for_nothing():
    log = Log()
    evidence = log.evidence(script_exit=0, tokens=0)
    _, payload = entry_to_json(Recorded(2, evidence, Outcome.STALL))
    assert payload["evidence"]["script_exit"] == 0
    assert payload["evidence"]["tokens"] == 0


@pytest.mark.parametrize(
    ("kind", "payload", "words"),
    [
        ("rumour", {}, "unknown kind 'rumour'"),
        ("opened", {"base_rev": "a", "base_head": "b", "colour": 1}, "unknown fields colour"),
        ("opened", {"base_rev": "a"}, "base_head"),
        ("opened", {"base_rev": 1, "base_head": "b"}, "expected str"),
        ("recorded", {"evidence": [], "outcome": "WORK"}, "expected an object"),
        ("human_event", [], "expected an object"),
    ],
)
def test_an_entry_that_cannot_be_understood_is_refused(kind, payload, words):
    with pytest.raises(ValueError, match=words):
        entry_from_json(1, kind, payload)


def test_a_snapshot_of_another_version_is_folded_anew(monkeypatch):
    payload = state_to_json(Log().state)
    monkeypatch.setattr(controllers, "SNAPSHOT_VERSION", controllers.SNAPSHOT_VERSION + 1)
    assert state_from_json(payload) is None


def test_the_evidence_of_a_plain_iteration_is_small():
    log = Log()
    _, payload = entry_to_json(Recorded(2, log.evidence(change=True), Outcome.WORK))
    assert isinstance(log.evidence(), Evidence)
    assert len(json.dumps(payload)) < 500
