"""EndpointAgent: asks a model for one structured reply and hands it in."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from loops.agents.base import Call, Control, Reply
from loops.agents.endpoint.extract import json_object
from loops.agents.endpoint.failing import Failure, failure
from loops.agents.endpoint.services import FORMS, SERVICES, Form, Request, Spoken
from loops.agents.endpoint.watching import Halted, Watch
from loops.agents.events import Usage
from loops.agents.redact import redact
from loops.engine.values import Fault

WANTED = (
    "Reply with one JSON object and nothing else: no words around it, no fence. "
    "It must be valid by this JSON schema:\n{schema}"
)
AGAIN = (
    "Your reply cannot be used: {sentence}\nSend the whole corrected JSON object and nothing else."
)
NO_OBJECT = "There is no JSON object in it."
CUT_OFF = "It was cut off before it was whole; be shorter."
EMPTY = "(nothing)"  # a message without words is refused by some endpoints


@dataclass(frozen=True, slots=True)
class Contract:
    """What is to be handed in. schema: JSON schema of the reply. submit: takes its JSON text; "" if
    it was accepted, else a sentence for the model. Called from the thread that runs the call."""

    schema: dict[str, Any]
    submit: Callable[[str], str]


@dataclass(slots=True)
class _Learnt:
    """What the endpoint was seen to take."""

    form: Form | None = None
    asks_usage: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointAgent:
    """A model behind an OpenAI-compatible or an Anthropic endpoint. Starts no process.

    base_url: "" = Anthropic's own. key: "" = the endpoint wants none. context_tokens: of the
    model's window. retry_seconds: how long a failed request may wait to be repeated, which happens
    once. An instance remembers which form of request the endpoint takes.
    """

    kind: Literal["openai", "anthropic"]
    model: str
    contract: Contract
    base_url: str = ""
    key: str = field(default="", repr=False)
    context_tokens: int = 128_000
    retry_seconds: float = 90.0
    _learnt: _Learnt = field(default_factory=_Learnt, init=False, repr=False, compare=False)

    def run(self, call: Call, control: Control) -> Reply:
        """Faults: WORKER_LOST (control.must_stop()), WALL_CLOCK, SILENCE, UNPARSEABLE (also the
        second reply was refused), REFUSED, and what failures.classify() makes of an error."""
        secrets = [self.key, *call.confidential]
        turn = _Turn(self, call, Watch(call, control, secrets))
        try:
            reply = turn.take()
        except Halted as halted:
            reply = halted.reply
        except Failed as failed:
            reply = _reply(failed.why)
        return replace(reply, detail=redact(reply.detail, secrets), usages=turn.usages())


class Failed(Exception):
    """A request failed for good."""

    def __init__(self, why: Failure) -> None:
        self.why = why


def _reply(why: Failure) -> Reply:
    fault = why.fault
    return Reply(
        fault=fault,
        detail=why.sentence,
        resets_in=why.resets_in if fault is Fault.AGENT_LIMIT else None,
    )


@dataclass(slots=True)
class _Turn:
    """One call: a reply, and once more if it cannot be used."""

    agent: EndpointAgent
    call: Call
    watch: Watch
    used: list[Usage] = field(default_factory=list)

    def take(self) -> Reply:
        contract = self.agent.contract
        schema = json.dumps(contract.schema, ensure_ascii=False)
        prompt = f"{self.call.prompt}\n\n{WANTED.format(schema=schema)}"
        messages: tuple[dict[str, str], ...] = ({"role": "user", "content": prompt},)
        spoken = self.ask(messages)
        sentence = self.hand_in(spoken)
        if not sentence:
            return Reply()
        self.watch.note(f"The reply cannot be used: {sentence} It is asked for once more.")
        messages += (
            {"role": "assistant", "content": spoken.text.strip() or EMPTY},
            {"role": "user", "content": AGAIN.format(sentence=sentence)},
        )
        sentence = self.hand_in(self.ask(messages))
        if not sentence:
            return Reply()
        detail = f"The model's reply cannot be used, nor could the corrected one: {sentence}"
        return Reply(fault=Fault.UNPARSEABLE, detail=detail)

    def hand_in(self, spoken: Spoken) -> str:
        """ "" or the sentence of refusal. Raises Halted."""
        if spoken.is_refusal:
            raise Halted(Fault.REFUSED, "The model or its filter refused to answer.")
        found = json_object(spoken.text)
        if not found:
            return CUT_OFF if spoken.is_cut else NO_OBJECT
        self.watch.check()  # nothing is handed in without the right to run
        return self.agent.contract.submit(found)

    def ask(self, messages: tuple[dict[str, str], ...]) -> Spoken:
        """In the form that the endpoint is known to take, else in the most exact that it takes.
        Raises Halted and Failed."""
        learnt, forms = self.agent._learnt, list(FORMS[self.agent.kind])
        form, asks_usage = learnt.form or forms[0], learnt.asks_usage
        while True:
            try:
                spoken = self.request(messages, form, asks_usage)
            except Halted:
                raise
            except Exception as error:
                why = failure(error, datetime.now(UTC))
                if not why.is_about_form:
                    raise Failed(why) from None
                if asks_usage and "stream_options" in why.text:
                    asks_usage = False
                elif form is not forms[-1]:
                    refused, form = form, forms[forms.index(form) + 1]
                    self.watch.note(f"The endpoint takes no {refused}; trying {form}.")
                else:
                    raise Failed(why) from None
            else:
                learnt.form, learnt.asks_usage = form, asks_usage
                return spoken

    def request(self, messages: tuple[dict[str, str], ...], form: Form, asks_usage: bool) -> Spoken:
        agent = self.agent
        request = Request(
            model=agent.model,
            base_url=agent.base_url,
            key=agent.key,
            messages=messages,
            schema=agent.contract.schema,
            form=form,
            asks_usage=asks_usage,
            context_tokens=agent.context_tokens,
            silence_seconds=self.call.silence_seconds,
            retry_seconds=agent.retry_seconds,
        )
        service = SERVICES[agent.kind]
        spoken = self.watch.request(lambda hear: service(request, hear))
        if spoken.usage is not None:
            self.used.append(spoken.usage)
        self.watch.end_line()
        return spoken

    def usages(self) -> tuple[Usage, ...]:
        """All requests together: there is one model."""
        if not self.used:
            return ()
        return (
            Usage(
                model=self.agent.model,
                input=sum(one.input for one in self.used),
                output=sum(one.output for one in self.used),
                cached=sum(one.cached for one in self.used),
                reasoning=sum(one.reasoning for one in self.used),
            ),
        )
