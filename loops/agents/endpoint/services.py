"""One streamed request to either kind of service, by its client library.

The libraries are loaded at the first request: they take seconds, and the web process needs none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from loops.agents.endpoint.failing import Broken, retry_after
from loops.agents.events import Usage

if TYPE_CHECKING:
    import httpx2

ANTHROPIC = "https://api.anthropic.com"
NO_KEY = "none"  # a library without one would take its own from our environment
MOST_CHARACTERS = 2_000_000
"""Of one reply; a model that never ends must not fill the memory before the wall clock rings."""
LONGEST_RETRY_WAIT = 10.0
MOST_TOKENS = 8192
"""Of a reply of Anthropic's, which wants a number: more than a plan or a report needs, and not more
than any model in use may give."""
Hear = Callable[[str], None]


class Form(StrEnum):
    """How the shape of the reply is asked for, the most exact first."""

    JSON_SCHEMA = "json_schema"
    JSON_OBJECT_WITH_SCHEMA = "json_object with a schema"  # llama.cpp's
    JSON_OBJECT = "json_object"
    PLAIN = "words alone"


FORMS = {
    "openai": tuple(Form),
    "anthropic": (Form.JSON_SCHEMA, Form.PLAIN),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """messages: {"role", "content"}, texts both. schema: of the reply. asks_usage: of OpenAI's
    kind only."""

    model: str
    base_url: str
    key: str
    messages: tuple[Any, ...]
    schema: dict[str, Any]
    form: Form
    asks_usage: bool
    context_tokens: int
    silence_seconds: float
    retry_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A whole reply. is_cut: it reached the longest that was allowed. is_refusal: the model or a
    filter would not answer."""

    text: str
    usage: Usage | None
    is_cut: bool = False
    is_refusal: bool = False


class _Text:
    def __init__(self, hear: Hear) -> None:
        self._hear, self._parts, self._length = hear, [""], 0

    def add(self, text: str) -> None:
        self._length += len(text)
        if self._length > MOST_CHARACTERS:
            raise Broken(f"the reply is longer than {MOST_CHARACTERS} characters")
        self._parts.append(text)
        self._hear(text)

    def whole(self) -> str:
        return "".join(self._parts)


async def openai_chat(request: Request, hear: Hear) -> Spoken:
    import openai

    client = openai.AsyncOpenAI(
        api_key=request.key or NO_KEY,
        base_url=request.base_url,
        max_retries=1,
        http_client=_http(request, openai.DefaultAsyncHttpxClient),
    )
    client.organization = client.project = None  # those of our environment are another's
    wanted: dict[str, Any] = {}
    if request.form is not Form.PLAIN:
        wanted["response_format"] = _format(request.form, request.schema)
    if request.asks_usage:
        wanted["stream_options"] = {"include_usage": True}
    text, usage, finish, refusal = _Text(hear), None, "", False
    async with client:
        stream: Any = await client.chat.completions.create(
            model=request.model, messages=list(request.messages), stream=True, **wanted
        )
        async for chunk in stream:
            hear("")
            usage = _openai_usage(request.model, chunk.usage) or usage
            for choice in (chunk.choices or [])[:1]:
                finish = choice.finish_reason or finish
                if choice.delta is not None:
                    refusal = refusal or bool(choice.delta.refusal)
                    text.add(choice.delta.content or choice.delta.refusal or "")
    if not finish:
        raise Broken("the stream broke off before the reply was whole")
    return Spoken(
        text=text.whole(),
        usage=usage,
        is_cut=finish == "length",
        is_refusal=refusal or finish == "content_filter",
    )


def _format(form: Form, schema: dict[str, Any]) -> dict[str, Any]:
    if form is Form.JSON_SCHEMA:
        # Not strict: that would make every field mandatory (see replies.plan_schema).
        return {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": schema, "strict": False},
        }
    if form is Form.JSON_OBJECT_WITH_SCHEMA:
        return {"type": "json_object", "schema": schema}
    return {"type": "json_object"}


def _openai_usage(model: str, said: Any) -> Usage | None:
    if said is None:
        return None
    inside, outside = said.prompt_tokens_details, said.completion_tokens_details
    return Usage(
        model=model,
        input=said.prompt_tokens or 0,
        output=said.completion_tokens or 0,
        cached=(inside and inside.cached_tokens) or 0,
        reasoning=(outside and outside.reasoning_tokens) or 0,
    )


async def anthropic_messages(request: Request, hear: Hear) -> Spoken:
    import anthropic

    client = anthropic.AsyncAnthropic(
        api_key=request.key or NO_KEY,
        base_url=request.base_url.rstrip("/").removesuffix("/v1") or ANTHROPIC,
        max_retries=1,
        http_client=_http(request, anthropic.DefaultAsyncHttpxClient),
    )
    wanted: dict[str, Any] = {}
    if request.form is Form.JSON_SCHEMA:
        schema = anthropic.transform_schema(request.schema)  # it takes no longest text
        wanted["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    message = _Message(_Text(hear))
    async with client:
        stream: Any = await client.messages.create(
            model=request.model,
            max_tokens=min(MOST_TOKENS, max(request.context_tokens // 2, 1)),
            messages=list(request.messages),
            stream=True,
            **wanted,
        )
        async for event in stream:
            hear("")
            message.take(event)
    return message.spoken(request.model)


@dataclass(slots=True)
class _Message:
    text: _Text
    counted: dict[str, int] = field(default_factory=dict)
    stopped: str = ""
    has_ended: bool = False

    def take(self, event: Any) -> None:
        match event.type:
            case "content_block_delta" if event.delta.type == "text_delta":
                self.text.add(event.delta.text)
            case "message_start":
                self.counted |= _counted(event.message.usage)
            case "message_delta":
                self.counted |= _counted(event.usage)
                self.stopped = event.delta.stop_reason or self.stopped
            case "message_stop":
                self.has_ended = True

    def spoken(self, model: str) -> Spoken:
        if not self.has_ended:
            raise Broken("the stream broke off before the reply was whole")
        return Spoken(
            text=self.text.whole(),
            usage=_anthropic_usage(model, self.counted),
            is_cut=self.stopped == "max_tokens",
            is_refusal=self.stopped == "refusal",
        )


_COUNTS = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


def _counted(said: Any) -> dict[str, int]:
    """Each event tells the whole of what it names."""
    found = {name: getattr(said, name, None) for name in _COUNTS}
    return {name: value for name, value in found.items() if value is not None}


def _anthropic_usage(model: str, counted: dict[str, int]) -> Usage | None:
    if not any(counted.values()):
        return None
    cached = counted.get("cache_read_input_tokens", 0)
    fresh = counted.get("input_tokens", 0) + counted.get("cache_creation_input_tokens", 0)
    return Usage(
        model=model, input=fresh + cached, output=counted.get("output_tokens", 0), cached=cached
    )


def _http(request: Request, kind: Callable[..., Any]) -> Any:
    """No redirects: a key goes to the address that a person named, and nowhere else."""
    import httpx2

    patience = min(request.retry_seconds, LONGEST_RETRY_WAIT)

    async def look(response: httpx2.Response) -> None:
        wait = retry_after(response.headers, datetime.now(UTC))
        if wait is not None and wait > patience:
            # Else the library sleeps up to two minutes, and nobody sees why.
            response.headers["x-should-retry"] = "false"

    return kind(
        timeout=httpx2.Timeout(60, connect=20, read=request.silence_seconds + 5),
        follow_redirects=False,
        event_hooks={"response": [look]},
    )


SERVICES = {"openai": openai_chat, "anthropic": anthropic_messages}
