"""A verifier on its maker's model is allowed by a person only, and marked on every verdict."""

import pytest

from loops.models import Session
from loops.reading.reading import Reading
from tracker.models import Project

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("model", "marked"), [("opus", True), ("gpt-5.5", False)])
def test_the_mark_stands_wherever_the_verifier_is_named(model, marked):
    settings = {"argv": ["x"], "model": model}
    config = {
        "pattern": "maker_verifier",
        "agents": {"maker": {"argv": ["y"], "model": "anthropic/opus"}},
        "verifiers": [
            {"name": "judge", "agent": settings},
            {"name": "tests", "agent": settings, "mechanical": True},
        ],
    }
    reading = Reading(Session(config=config, pattern="maker_verifier", project=Project()))
    assert ("same model" in reading.kind_of("judge")) is marked
    assert reading.kind_of("tests") == "required, mechanical"
    assert reading.kind_of("gone") == "no longer asked"
