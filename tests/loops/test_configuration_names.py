"""A session's configuration names each agent once, and gates only roles that take part."""

import pytest

from loops import configuration
from tests.loops.verified import AGENT, feedback_config, maker_config, verifier
from tracker.errors import Invalid

SINGLE = {"agents": {"worker": AGENT, "reviewer": AGENT}}


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (feedback_config("coder", "coder"), "coder"),
        (feedback_config("coder", verifiers=[verifier("coder")]), "called 'coder'"),
        (feedback_config("thinker"), "called 'thinker'"),
        (maker_config(verifiers=[verifier("maker")]), "called 'maker'"),
        ({**SINGLE, "gates": ["maker"]}, "has no maker to ask before; it has worker, reviewer"),
        (maker_config(gates=["coach"]), "has no coach to ask before; it has maker, verifier"),
    ],
)
def test_a_name_that_means_two_agents_or_none_is_refused(config, says):
    with pytest.raises(Invalid, match=says):
        configuration.parse(config)


def test_a_role_that_a_pool_plays_may_name_a_member_and_a_gate():
    config = feedback_config("worker", verifiers=[verifier("verifier")], gates=["worker"])
    assert configuration.parse(config).pool[0].name == "worker"
