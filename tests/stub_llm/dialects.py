"""The four protocols: one answer as a JSON object, or as the events of a stream."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any

from tests.stub_llm.conversation import Body
from tests.stub_llm.replies import Failure, Text, ToolCall

INPUT, CACHED, OUTPUT, REASONING = 1000, 100, 50, 5  # of every reply, so tests can assert on it
Events = list[tuple[str | None, Any]]  # (name, data); data that is a string is sent as it is


def words(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


def fresh(kind: str) -> str:
    return f"{kind}_{time.time_ns()}"


def chat(model: str, said: Text | ToolCall) -> tuple[Body, Events]:
    usage = {
        "prompt_tokens": INPUT,
        "completion_tokens": OUTPUT,
        "total_tokens": INPUT + OUTPUT,
        "prompt_tokens_details": {"cached_tokens": CACHED},
        "completion_tokens_details": {"reasoning_tokens": REASONING},
    }
    base = {"id": "chatcmpl-stub", "created": int(time.time()), "model": model}
    message: Body = {"role": "assistant", "content": said.text if isinstance(said, Text) else None}
    deltas: list[Body] = [{"role": "assistant", "content": ""}]
    if isinstance(said, Text):
        finish = "stop"
        deltas += [{"content": word} for word in words(said.text)]
    else:
        finish = "tool_calls"
        name, arguments = said.tool.name, json.dumps(said.arguments)
        call = {"id": fresh("call"), "type": "function"}
        message["tool_calls"] = [{**call, "function": {"name": name, "arguments": arguments}}]
        parts = [
            {"index": 0, **call, "function": {"name": name, "arguments": ""}},
            {"index": 0, "function": {"arguments": arguments}},
        ]
        deltas += [{"tool_calls": [part]} for part in parts]
    choice = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    whole = {**base, "object": "chat.completion", "usage": usage, "choices": [choice]}
    chunk = {**base, "object": "chat.completion.chunk"}
    ends = [(delta, None) for delta in deltas] + [({}, finish)]
    events: Events = [
        (None, {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]})
        for delta, end in ends
    ]
    return whole, [*events, (None, {**chunk, "choices": [], "usage": usage}), (None, "[DONE]")]


def responses(model: str, said: Text | ToolCall) -> tuple[Body, Events]:
    usage = {
        "input_tokens": INPUT,
        "input_tokens_details": {"cached_tokens": CACHED},
        "output_tokens": OUTPUT,
        "output_tokens_details": {"reasoning_tokens": REASONING},
        "total_tokens": INPUT + OUTPUT,
    }
    item = _item(said)
    whole = {
        "id": fresh("resp"),
        "object": "response",
        "created_at": int(time.time()),
        "model": model,
        "status": "completed",
        "output": [item],
        "usage": usage,
        "error": None,
    }
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    said_words = words(said.text) if isinstance(said, Text) else []
    named: list[tuple[str, Body]] = [
        ("response.created", {"response": begun}),
        (
            "response.output_item.added",
            {"output_index": 0, "item": {**item, "status": "in_progress"}},
        ),
        *(("response.output_text.delta", {**place, "delta": word}) for word in said_words),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {"response": whole}),
    ]
    return whole, [
        (name, {"type": name, "sequence_number": number, **data})
        for number, (name, data) in enumerate(named)
    ]


def _item(said: Text | ToolCall) -> Body:
    known = {"id": fresh("item"), "status": "completed"}
    if isinstance(said, Text):
        content = [{"type": "output_text", "text": said.text, "annotations": []}]
        return {**known, "type": "message", "role": "assistant", "content": content}
    call = {**known, "call_id": fresh("call"), "name": said.tool.name}
    if isinstance(said.arguments, str):
        return {**call, "type": "custom_tool_call", "input": said.arguments}
    space = {"namespace": said.tool.namespace} if said.tool.namespace else {}
    arguments = json.dumps(said.arguments)
    return {**call, "type": "function_call", "arguments": arguments, **space}


def anthropic(model: str, said: Text | ToolCall) -> tuple[Body, Events]:
    read = {
        "input_tokens": INPUT - CACHED,
        "cache_read_input_tokens": CACHED,
        "cache_creation_input_tokens": 0,
    }
    block: Body
    if isinstance(said, Text):
        block, empty = {"type": "text", "text": said.text}, {"text": ""}
        deltas = [{"type": "text_delta", "text": word} for word in words(said.text)]
        stop = "end_turn"
    else:
        block = {"type": "tool_use", "id": fresh("toolu"), "name": said.tool.name}
        block, empty = {**block, "input": said.arguments}, {"input": {}}  # type: ignore[dict-item]
        deltas = [{"type": "input_json_delta", "partial_json": json.dumps(said.arguments)}]
        stop = "tool_use"
    whole = {
        "id": fresh("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [block],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {**read, "output_tokens": OUTPUT},
    }
    usage = {**read, "output_tokens": 1}
    begun = {**whole, "content": [], "stop_reason": None, "usage": usage}
    end = {"stop_reason": stop, "stop_sequence": None}
    named: list[tuple[str, Body]] = [
        ("message_start", {"message": begun}),
        ("content_block_start", {"index": 0, "content_block": {**block, **empty}}),
        *(("content_block_delta", {"index": 0, "delta": delta}) for delta in deltas),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": end, "usage": whole["usage"]}),
        ("message_stop", {}),
    ]
    return whole, [(name, {"type": name, **data}) for name, data in named]


def gemini(model: str, said: Text | ToolCall) -> tuple[Body, Events]:
    part: Body
    if isinstance(said, Text):
        part = {"text": said.text}
    else:
        part = {"functionCall": {"name": said.tool.name, "args": said.arguments}}
    content = {"role": "model", "parts": [part]}
    usage = {
        "promptTokenCount": INPUT,
        "candidatesTokenCount": OUTPUT - REASONING,
        "thoughtsTokenCount": REASONING,
        "cachedContentTokenCount": CACHED,
        "totalTokenCount": INPUT + OUTPUT,
    }
    whole = {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "modelVersion": model,
        "responseId": "stub",
        "usageMetadata": usage,
    }
    return whole, [(None, whole)]


DIALECTS: dict[str, Callable[[str, Text | ToolCall], tuple[Body, Events]]] = {
    "chat": chat,
    "responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
}
_CODES = {  # status: (OpenAI's code, Anthropic's type, Gemini's status)
    400: ("invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"),
    401: ("invalid_api_key", "authentication_error", "UNAUTHENTICATED"),
    429: ("rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED"),
    500: ("server_error", "api_error", "INTERNAL"),
    503: ("server_overloaded", "api_error", "UNAVAILABLE"),
    529: ("server_overloaded", "overloaded_error", "UNAVAILABLE"),
}


def error_body(protocol: str, failure: Failure) -> Body:
    openai, ours, google = _CODES.get(failure.status, _CODES[500])
    if "too long" in failure.text:
        openai = "context_length_exceeded"
    if protocol == "anthropic":
        return {"type": "error", "error": {"type": ours, "message": failure.text}}
    if protocol == "gemini":
        return {"error": {"code": failure.status, "status": google, "message": failure.text}}
    error = {"message": failure.text, "type": openai, "code": openai, "param": None}
    return {"error": error}
