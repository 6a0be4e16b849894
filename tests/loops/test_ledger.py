"""What agents use is counted once, priced by people's prices, and never shown as free when it is
not priced (RULES 1, case P4)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from escalations import services as escalations
from escalations.models import Escalation
from escalations.word import Word
from loops import ledger, runner, services
from loops.engine.values import Choice, Role
from loops.models import LedgerEntry, LogEntry, Session
from tests.loops import behaviours as b
from tests.loops import verified as v
from tests.loops.test_verified_sessions import run
from tests.loops.world import MemoryWorkspace, World
from tracker.errors import Invalid

pytestmark = pytest.mark.django_db(transaction=True)
USAGE = ("usage", "report", "--model", "sonnet", "--input", "1000", "--output", "100")


def reporting(behave, *usage):
    def call(tools):
        for words in usage or (USAGE,):
            assert tools.loopwatch(*words)[0] == 0
        return behave(tools)

    return call


@pytest.fixture
def prices(db):
    ledger.set_price("sonnet", input=Decimal(3), output=Decimal(15), cached=None, by="me")


def evidence(session):
    rows = LogEntry.objects.filter(session=session, kind="recorded").order_by("seq")
    return [row.payload["evidence"] for row in rows]


def test_each_call_is_a_row_with_its_price_and_the_sum_is_the_iteration_s(new_session, prices):
    world = World({**v.MAKERS, Role.MAKER: reporting(v.builder, USAGE, USAGE)})
    world.workspace = MemoryWorkspace(files={"a.txt": "bad"})
    session = run(new_session(**v.maker_config()), world)
    rows = LedgerEntry.objects.filter(session=session).order_by("iteration", "call")
    assert [(r.iteration, r.call, r.role, r.input, r.output) for r in rows] == [
        (1, 1, "maker", 1000, 100),
        (1, 2, "maker", 1000, 100),
    ]
    assert {r.money for r in rows} == {Decimal("0.0045")}
    first, second = evidence(session)
    assert (first["tokens"], first["money"]) == (2200, 0.009)
    assert second.get("money") is None


def test_cached_input_has_its_own_price(prices):
    ledger.set_price("sonnet", input=Decimal(3), output=Decimal(15), cached=Decimal("0.3"), by="me")
    used = ledger.Used("sonnet", 1_000_000, 0, 1_000_000)
    assert [one.money for one in ledger.priced([used])] == [Decimal("0.3")]


def test_a_model_without_a_price_is_unpriced_and_never_free(new_session, prices):
    other = ("usage", "report", "--model", "other", "--input", "5", "--output", "5")
    world = World({**v.MAKERS, Role.MAKER: reporting(v.builder, USAGE, other)})
    session = run(new_session(**v.maker_config()), world)
    assert evidence(session)[0].get("money") is None
    assert evidence(session)[0]["tokens"] == 1110
    assert LedgerEntry.objects.get(session=session, model="other").money is None


def test_spending_survives_pause_and_a_new_process_and_is_counted_once(new_session, me, prices):
    world = World({Role.WORKER: reporting(b.vandal), Role.REVIEWER: b.honest_reviewer})
    session = new_session()
    runner.advance(session.pk, world, iterations=2)
    services.pause(session, me)
    runner.advance(session.pk, world)
    services.resume(session, me)
    runner.advance(session.pk, world, iterations=2)
    workers = [e for e in evidence(session) if e["role"] == "worker"]
    spent = sum(e["money"] for e in workers)
    rows = LedgerEntry.objects.filter(session=session)
    assert rows.count() == len(workers)
    assert float(sum(r.money for r in rows)) == pytest.approx(spent)


def test_a_token_limit_asks_a_person(new_session):
    world = World({**v.MAKERS, Role.MAKER: reporting(v.idle)}, MemoryWorkspace(files={"a": "bad"}))
    session = run(new_session(**v.maker_config(limits={"tokens": 2000})), world)
    asked = Escalation.objects.get(session=session)
    assert (asked.kind, asked.limit) == ("limit", "tokens")
    escalations.decide(asked, Word(choice=Choice.GRANT, grants={"tokens": 100_000}), me_of(session))
    assert Session.objects.get(pk=session.pk).state == "queued"


def me_of(session):
    from tracker import services as tracker

    return tracker.person("me")


def test_a_money_limit_alone_needs_agents_with_a_price(project, me, prices):
    config = v.maker_config(limits={"money": 5})
    with pytest.raises(Invalid, match="token limit"):
        services.create_session(project, by=me, config=config)
    priced = {**v.AGENT, "model": "sonnet"}
    config["agents"]["maker"] = priced
    config["judges_itself"] = True
    config["verifiers"][0] = {**config["verifiers"][0], "agent": priced}
    assert services.create_session(project, by=me, config=config).pk


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--input", "-1", "--output", "0"), "number of tokens"),
        (("--input", "1e3", "--output", "0"), "number of tokens"),
        (("--input", "1", "--output", "0", "--cached", "2"), "part of --input"),
        (("--input", "1" * 40, "--output", "0"), "number of tokens"),
    ],
)
def test_usage_that_is_no_number_is_refused(new_session, words, says):
    said = []

    def call(tools):
        said.append(tools.loopwatch("usage", "report", "--model", "m", *words))

    run(new_session(**v.maker_config(attempts=1)), World({**v.MAKERS, Role.MAKER: call}))
    assert said[0][0] == 2
    assert says in said[0][2]


@pytest.mark.parametrize("amount", ["-1", "NaN", "Infinity", "1000000"])
def test_a_price_is_a_number_of_dollars(db, amount):
    with pytest.raises(Invalid, match="is a number from 0"):
        ledger.set_price("m", input=Decimal(amount), output=Decimal(1), cached=None, by="me")
