"""What a thinker and a verifier hand in, checked at the edge: JSON in, plain values out (RULES 2).

Unknown fields are refused, and every refusal says where and what, so that the agent can mend it in
the same iteration.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from loops.engine.contracts import Criterion, Judgement, Plan, Report
from loops.engine.values import Action, FailureType, Verdict
from loops.interface import words
from tracker.errors import Invalid

MOST_ITEMS = 100
MOST_TEXT = 20_000
MOST_FAULTS = 8  # named in one refusal

Text = Annotated[str, Field(max_length=MOST_TEXT)]
Said = Annotated[str, Field(min_length=1, max_length=MOST_TEXT)]
Texts = Annotated[list[Said], Field(max_length=MOST_ITEMS)]
Model = TypeVar("Model", bound=BaseModel)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    @field_validator("*", mode="before")
    @classmethod
    def _harmless(cls, value: Any) -> Any:
        return _clean(value)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return words.harmless(value)
    return [_clean(item) for item in value] if isinstance(value, list) else value


class _Criterion(_Strict):
    text: Said
    traces: Annotated[str, Field(max_length=60)] = ""


class PlanPacket(_Strict):
    summary: Said
    decomposition: Texts = []
    success_criteria: Annotated[list[_Criterion], Field(min_length=1, max_length=MOST_ITEMS)]
    risks: Texts = []
    selected_worker: Said
    alternative_workers: Texts = []
    requires_self_call: bool = False
    thinker_notes: Text = ""

    @field_validator("success_criteria", mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        """A criterion of the plan's own may be written as its text alone."""
        if not isinstance(value, list):
            return value
        return [{"text": item} if isinstance(item, str) else item for item in value]


class _Judgement(_Strict):
    criterion: Said
    status: Literal["OK", "FAIL", "UNCERTAIN"]
    evidence: Text = ""


class VerificationReport(_Strict):
    status: Literal["OK", "FAIL", "UNCERTAIN"]
    score: Annotated[int, Field(ge=1, le=10)]
    feedback: Text = ""
    evidence: Annotated[list[_Judgement], Field(max_length=MOST_ITEMS)] = []
    failure_type: Literal["quality", "worker_mismatch", "planning_issue", "other"] = "other"
    recommended_action: Literal["FINISH", "RETRY", "REASSIGN", "REPLAN"] | None = None
    recommended_worker: Annotated[str, Field(max_length=60)] | None = None


def plan_schema() -> dict[str, Any]:
    """JSON schema of a plan, whole (no references: some endpoints and CLIs follow none).

    Not for OpenAI's strict mode, which demands every field and knows no longest text: a plan would
    have to carry fields that nobody needs. What comes is checked here in any case.
    """
    return _whole(PlanPacket)


def report_schema() -> dict[str, Any]:
    """JSON schema of a report, as plan_schema()."""
    return _whole(VerificationReport)


def _whole(kind: type[BaseModel]) -> dict[str, Any]:
    schema = kind.model_json_schema()
    definitions = schema.pop("$defs", {})

    def inlined(part: Any) -> Any:
        if isinstance(part, list):
            return [inlined(each) for each in part]
        if not isinstance(part, dict):
            return part
        if "$ref" in part:
            return inlined(definitions[part["$ref"].rsplit("/", 1)[1]])
        return {
            name: {field: inlined(each) for field, each in value.items()}
            if name == "properties"
            else inlined(value)
            for name, value in part.items()
            if not (name == "title" and isinstance(value, str))
        }

    whole: dict[str, Any] = inlined(schema)
    return whole


def plan(text: str, *, pool: tuple[str, ...], traceable: Callable[[str], str]) -> Plan:
    """The plan in `text`. traceable: a key as the agent wrote it -> the requirement's own key, ""
    where there is none. Raises Invalid with every fault: no JSON, a field, a worker outside the
    pool, a criterion that traces to nothing known."""
    packet = _read(PlanPacket, text, "plan")
    for name in (packet.selected_worker, *packet.alternative_workers):
        if name not in pool:
            raise Invalid(
                f"There is no worker {words.shown(name)!r}; the pool is {', '.join(pool)}."
            )
    return Plan(
        summary=packet.summary,
        decomposition=tuple(packet.decomposition),
        success_criteria=tuple(
            Criterion(f"C-{number}", each.text, _traced(each.traces, traceable))
            for number, each in enumerate(packet.success_criteria, 1)
        ),
        risks=tuple(packet.risks),
        selected_worker=packet.selected_worker,
        alternative_workers=tuple(dict.fromkeys(packet.alternative_workers)),
        requires_self_call=packet.requires_self_call,
        thinker_notes=packet.thinker_notes,
    )


def _traced(key: str, traceable: Callable[[str], str]) -> str:
    if not key:
        return ""
    known = traceable(key)
    if not known:
        raise Invalid(
            f"A criterion traces to {words.shown(key)!r}, which is no requirement in scope; "
            "`loopwatch req list` shows them. Leave it empty for a criterion of your own."
        )
    return known


def report(text: str, *, pool: tuple[str, ...], criteria: tuple[str, ...]) -> Report:
    """The report in `text`. criteria: keys that may be judged. Raises Invalid like plan()."""
    given = _read(VerificationReport, text, "report")
    worker = given.recommended_worker or ""
    if worker and worker not in pool:
        known = ", ".join(pool) or "none"
        raise Invalid(f"There is no worker {words.shown(worker)!r}; the pool is: {known}.")
    for each in given.evidence:
        if each.criterion not in criteria:
            known = ", ".join(criteria)
            raise Invalid(f"There is no criterion {words.shown(each.criterion)!r}; judge {known}.")
    if given.status == "FAIL" and not (given.feedback or any(e.evidence for e in given.evidence)):
        raise Invalid("A FAIL needs a concrete reason: say in `feedback` what is wrong and where.")
    return Report(
        status=Verdict(given.status),
        score=given.score,
        feedback=given.feedback,
        evidence=tuple(
            Judgement(each.criterion, Verdict(each.status), each.evidence)
            for each in given.evidence
        ),
        failure_type=FailureType(given.failure_type),
        recommended_action=Action(given.recommended_action) if given.recommended_action else None,
        recommended_worker=worker,
    )


def _read(kind: type[Model], text: str, what: str) -> Model:
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise Invalid(f"The {what} is no JSON: {words.shown(fault, 200)}.") from None
    if not isinstance(raw, dict):
        raise Invalid(f"The {what} is no JSON object: send one, such as {{...}}.")
    try:
        return kind.model_validate(raw)
    except ValidationError as error:
        faults = error.errors()
        named = [f"{_place(each['loc'])}: {each['msg']}" for each in faults[:MOST_FAULTS]]
        more = len(faults) - MOST_FAULTS
        rest = f"; and {more} more" if more > 0 else ""
        raise Invalid(f"The {what} cannot be used. {'; '.join(named)}{rest}.") from None


def _place(loc: tuple[int | str, ...]) -> str:
    return words.shown(".".join(map(str, loc)) or "whole", 100)
