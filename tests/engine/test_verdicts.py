"""How the reports on one attempt become one verdict (RULES 2, "Combining verdicts")."""

from itertools import combinations_with_replacement, product

import pytest

from loops.engine.contracts import Criterion, Given, Judgement, Report, Verifier
from loops.engine.values import Action, FailureType, Policy, Verdict
from loops.engine.verdicts import combine

OK, FAIL, UNCERTAIN = Verdict.OK, Verdict.FAIL, Verdict.UNCERTAIN
REQUIRED, ADVISING, RESERVE = Policy.REQUIRED, Policy.ADVISING, Policy.RESERVE
CRITERIA = (Criterion("C-1", "it adds", "R-1"), Criterion("C-2", "it subtracts", "R-1"))


def model(name="judge", policy=REQUIRED):
    return Verifier(name=name, policy=policy)


def suite(name="tests", policy=REQUIRED):
    return Verifier(name=name, policy=policy, is_mechanical=True)


def said(status, on=None, **fields):
    """on: criterion -> status, each with evidence; an OK has some for every criterion."""
    if on is None:
        on = {one.key: OK for one in CRITERIA} if status is OK else {}
    evidence = tuple(Judgement(key, word, f"saw {key}") for key, word in on.items())
    return Report(status=status, evidence=fields.pop("evidence", evidence), **fields)


def verdict(*pairs, criteria=CRITERIA):
    verifiers = tuple(verifier for verifier, _ in pairs)
    given = tuple(
        Given(verifier=verifier.name, iteration=number, report=report)
        for number, (verifier, report) in enumerate(pairs)
        if report is not None
    )
    return combine(verifiers, given, criteria)


# --- the rows, by name ---------------------------------------------------------------------------


def test_row_1_a_mechanical_fail_fails_whatever_the_models_say():
    assert verdict((model(), said(OK)), (suite(), said(FAIL))).verdict is FAIL


def test_row_1_goes_before_row_2_a_mechanical_fail_beats_a_contradiction():
    found = verdict(
        (model("a"), said(OK)), (model("b"), said(FAIL, {"C-1": FAIL})), (suite(), said(FAIL))
    )
    assert found.verdict is FAIL
    assert not found.is_conflict


def test_row_2_models_that_contradict_each_other_on_a_criterion_are_uncertain():
    found = verdict((model("a"), said(OK)), (model("b"), said(FAIL, {"C-1": FAIL})))
    assert found.verdict is UNCERTAIN
    assert found.is_conflict


def test_row_2_is_about_the_same_criterion():
    found = verdict(
        (model("a"), said(UNCERTAIN, {"C-1": OK})), (model("b"), said(FAIL, {"C-2": FAIL}))
    )
    assert found.verdict is FAIL
    assert not found.is_conflict


def test_row_2_is_about_two_verifiers_one_that_says_both_has_found_a_failure():
    both = (Judgement("C-1", OK, "here"), Judgement("C-1", FAIL, "but not there"))
    found = verdict((model(), said(FAIL, evidence=both)))
    assert found.verdict is FAIL
    assert not found.is_conflict


def test_row_2_is_about_models_a_test_run_contradicts_nobody():
    found = verdict((suite(), said(OK)), (model(), said(FAIL, {"C-1": FAIL})))
    assert found.verdict is FAIL


def test_row_3_any_required_fail_fails():
    found = verdict((model("a"), said(UNCERTAIN)), (model("b"), said(FAIL)))
    assert found.verdict is FAIL


def test_row_4_any_required_uncertain_is_uncertain():
    assert verdict((model("a"), said(OK)), (model("b"), said(UNCERTAIN))).verdict is UNCERTAIN
    assert verdict((model(), said(OK)), (suite(), said(UNCERTAIN))).verdict is UNCERTAIN


@pytest.mark.parametrize(
    "evidence",
    [
        (),
        (Judgement("C-1", OK, "seen"),),
        (Judgement("C-1", OK, "seen"), Judgement("C-2", OK, " \n")),
        (Judgement("C-1", OK, "seen"), Judgement("C-2", FAIL, "does not")),
        (Judgement("C-1", OK, "seen"), Judgement("C-2", UNCERTAIN, "who knows")),
        (Judgement("C-1", OK, "seen"), Judgement("C-3", OK, "another one")),
        (*said(OK).evidence, Judgement("C-2", FAIL, "and yet")),
    ],
)
def test_row_4_an_ok_without_evidence_that_each_criterion_holds_is_uncertain(evidence):
    assert verdict((model(), said(OK, evidence=evidence))).verdict is UNCERTAIN


def test_row_5_else_ok():
    found = verdict((suite(), said(OK, {})), (model("a"), said(OK)), (model("b"), said(OK)))
    assert found.verdict is OK


def test_what_a_mechanical_verifier_ran_is_its_evidence():
    assert verdict((suite(), said(OK, {}))).verdict is OK


@pytest.mark.parametrize("word", Verdict)
def test_advisers_never_decide(word):
    for adviser in (model("adviser", ADVISING), suite("adviser", ADVISING)):
        advice = (adviser, said(word, {"C-1": word}))
        assert verdict((model(), said(OK)), advice).verdict is OK
        assert verdict((model(), said(FAIL)), advice).verdict is FAIL
        assert verdict((model(), said(UNCERTAIN)), advice).verdict is UNCERTAIN
        assert verdict(advice).verdict is UNCERTAIN


def test_without_a_report_or_a_verifier_nothing_is_known():
    assert combine((), (), CRITERIA).verdict is UNCERTAIN
    assert verdict((model(), None)).verdict is UNCERTAIN


def test_as_long_as_a_required_verifier_has_not_spoken_nothing_is_ok():
    assert verdict((model("a"), said(OK)), (model("b"), None)).verdict is UNCERTAIN
    assert verdict((model("a"), said(FAIL)), (model("b"), None)).verdict is FAIL


def test_a_report_of_an_unknown_verifier_counts_for_nothing():
    given = (Given(verifier="stranger", iteration=1, report=said(OK)),)
    assert combine((model(),), given, CRITERIA).verdict is UNCERTAIN


# --- the reserve ---------------------------------------------------------------------------------


@pytest.mark.parametrize("word", [OK, FAIL, UNCERTAIN])
def test_the_reserve_speaks_in_the_place_of_the_models(word):
    spare = (model("spare", RESERVE), said(word))
    assert verdict((model(), said(UNCERTAIN)), spare).verdict is word


def test_the_reserve_settles_a_contradiction():
    found = verdict(
        (model("a"), said(OK)),
        (model("b"), said(FAIL, {"C-1": FAIL})),
        (model("spare", RESERVE), said(OK)),
    )
    assert found.verdict is OK
    assert not found.is_conflict


@pytest.mark.parametrize("word", [FAIL, UNCERTAIN])
def test_the_reserve_never_speaks_over_a_mechanical_verdict(word):
    spare = (model("spare", RESERVE), said(OK))
    assert verdict((suite(), said(word)), (model(), said(UNCERTAIN)), spare).verdict is word


def test_the_last_one_of_the_reserve_counts():
    first, second = model("first", RESERVE), model("second", RESERVE)
    reports = (model(), said(UNCERTAIN)), (first, said(UNCERTAIN)), (second, said(OK))
    assert verdict(*reports).verdict is OK


def test_a_reserve_that_was_not_asked_is_not_waited_for():
    assert verdict((model(), said(OK)), (model("spare", RESERVE), None)).verdict is OK


# --- what they said together ---------------------------------------------------------------------


def test_the_score_is_the_lowest_that_was_given():
    found = verdict(
        (suite(), said(OK, {})),
        (model("a"), said(OK, score=8)),
        (model("b"), said(OK, score=6)),
        (model("adviser", ADVISING), said(OK, score=1)),
    )
    assert found.report.score == 6
    assert verdict((suite(), said(OK, {}))).report.score == 0


def test_the_advice_is_that_of_the_first_fail_that_gives_any():
    mute = said(FAIL, feedback="no")
    advice = said(
        FAIL,
        recommended_action=Action.REPLAN,
        recommended_worker="coder",
        failure_type=FailureType.PLANNING_ISSUE,
    )
    praise = said(OK, recommended_action=Action.FINISH)
    found = verdict((suite(), praise), (model("a"), mute), (model("b"), advice)).report
    assert found.recommended_action is Action.REPLAN
    assert found.recommended_worker == "coder"
    assert found.failure_type is FailureType.PLANNING_ISSUE


def test_everybodys_words_are_there_with_their_names():
    found = verdict((model("a"), said(FAIL, feedback="slow")), (suite(), said(OK, feedback="ran")))
    assert found.report.feedback == "a: slow\ntests: ran"


def test_the_reason_is_that_of_those_who_failed_it():
    wrong = (Judgement("C-1", OK, "adds"), Judgement("C-2", FAIL, "returns 0"))
    found = verdict(
        (suite(), said(OK, {}, feedback="all green")),
        (model(), said(FAIL, evidence=wrong, feedback=" does not subtract \n")),
    )
    assert found.reason == "does not subtract\nC-2: returns 0"


@pytest.mark.parametrize("evidence", [(), (Judgement("C-1", FAIL, " "), Judgement("C-2", OK, "x"))])
def test_a_fail_without_concrete_words_has_no_reason(evidence):
    found = verdict(
        (suite(), said(OK, {}, feedback="all green")),
        (model(), said(FAIL, evidence=evidence, feedback=" \n")),
    )
    assert found.verdict is FAIL
    assert found.reason == ""


# --- every combination of up to three verifiers --------------------------------------------------

# name -> (status, word on the one criterion, whether it shows that the criterion holds)
REPORTS = {
    "ok": (OK, OK, True),
    "ok, nothing shown": (OK, None, False),
    "ok, but the criterion fails": (OK, FAIL, False),
    "fail": (FAIL, FAIL, False),
    "fail in general": (FAIL, None, False),
    "uncertain": (UNCERTAIN, None, False),
    "uncertain, but the criterion holds": (UNCERTAIN, OK, True),
    "none": None,
}
ONE = (Criterion("C-1", "it works", "R-1"),)


def by_the_text(verifiers):
    """The verdict as "Combining verdicts" reads; each verifier: (policy, is_mechanical, report)."""
    spoken = [v for v in verifiers if v[2] is not None]
    reserve = [v for v in spoken if v[0] is RESERVE][-1:]
    required = [v for v in verifiers if v[0] is REQUIRED and (v[1] or not reserve)]
    deciding = [v for v in required if v[2] is not None] + reserve
    if any(mechanical and report[0] is FAIL for _, mechanical, report in deciding):
        return FAIL, False
    words = [report[1] for _, mechanical, report in deciding if not mechanical]
    if OK in words and FAIL in words:
        return UNCERTAIN, True
    statuses = [report[0] for *_, report in deciding]
    if FAIL in statuses:
        return FAIL, False
    lacking = any(not mechanical and not report[2] for _, mechanical, report in deciding)
    missing = any(v[2] is None for v in required)
    if UNCERTAIN in statuses or lacking or missing or not deciding:
        return UNCERTAIN, False
    return OK, False


def one_report(shape):
    status, word, _ = shape
    evidence = () if word is None else (Judgement("C-1", word, "seen"),)
    return Report(status=status, evidence=evidence)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_every_combination_is_judged_as_the_text_says(count):
    # Of three, the order is left out: it matters for the reserve only, and two show it.
    shapes = [
        (policy, mechanical, report, None if report is None else one_report(report))
        for policy, mechanical, report in product(Policy, (False, True), REPORTS.values())
    ]
    chosen_from = product(shapes, repeat=count)
    if count == 3:
        chosen_from = combinations_with_replacement(shapes, count)
    for chosen in chosen_from:
        verifiers = tuple(
            Verifier(name=f"v{i}", policy=policy, is_mechanical=mechanical)
            for i, (policy, mechanical, *_) in enumerate(chosen)
        )
        given = tuple(
            Given(verifier=f"v{i}", iteration=i, report=report)
            for i, (*_, report) in enumerate(chosen)
            if report is not None
        )
        found = combine(verifiers, given, ONE)
        assert (found.verdict, found.is_conflict) == by_the_text([s[:3] for s in chosen]), chosen
