"""Which fault an error is: the real texts of CLIs and vendors, and what only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loops.agents.failures import classify
from loops.engine.values import Fault

GEMINI_QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. For more "
    "information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.\n"
    "* Quota exceeded for metric: generate_content_free_tier_requests, limit: 50\n"
    "Please retry in 12.5s."
)
OPENAI_QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. For more "
    "information on this error, read the docs: "
    "https://platform.openai.com/docs/guides/error-codes/api-errors."
)
LIMITS = [
    (429, ""),
    (429, "Rate limit reached (stub)"),
    (429, GEMINI_QUOTA),
    (0, GEMINI_QUOTA),
    (403, "You have hit your usage limit, resets at 8pm"),
    (0, "You've hit your session limit · resets 7:10pm (Asia/Tokyo)"),
    (0, "You've hit your limit · resets 8pm (Europe/Berlin)"),
    (0, "Claude AI usage limit reached|1760000000"),
    (0, "5-hour limit reached ∙ resets 3am"),
    (0, "Weekly limit reached · resets Oct 6, 1am (UTC)"),
    (0, "You're out of extra usage · resets 2pm (America/New_York)"),
    (
        0,
        "This request would exceed your organization's rate limit of 30,000 tokens per minute",
    ),
    (0, "Rate limit reached for gpt-5 in organization org-x on tokens per min (TPM): Limit 30000"),
    (0, "You've hit your usage limit. Upgrade to Pro or try again in 3 days 4 hours 2 minutes."),
    (0, "exceeded retry limit, last status: 429 Too Many Requests, request id: 4b"),
    (0, "[API Error: Rate limit reached (stub)]\nPlease wait and try again later. To increase"),
    (
        0,
        '{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Resource exhausted"}}',
    ),
    (0, "You have exhausted your capacity on this model. Your quota will reset after 7h12m30s."),
    (0, "You have exhausted your daily quota on this model."),
    (0, "Too many tokens, please wait before trying again."),
    (0, "Qwen API quota exceeded: Your daily quota has been reached"),
    (0, '{"type":"error","error":{"type":"rate_limit_error","message":"Number of requests"}}'),
    (0, "FreeUsageLimitError: Free usage exceeded, subscribe to Go"),
]
AUTHS = [
    (401, ""),
    (403, "Forbidden"),
    (402, "Payment Required"),
    (0, "Credit balance is too low"),
    (
        400,
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing",
    ),
    (429, OPENAI_QUOTA),
    (429, '{"error":{"code":"insufficient_quota","type":"insufficient_quota"}}'),
    (402, "This request requires more credits, or fewer max_tokens."),
    (
        0,
        "Incorrect API key provided: sk-x. You can find your API key at https://platform.openai.com",
    ),
    (0, "Invalid API key · Please run /login"),
    (0, "Invalid API key · Fix external API key"),
    (0, '{"error":{"code":"invalid_api_key","message":"Invalid API key (stub)"}}'),
    (0, "authentication_error: invalid x-api-key"),
    (0, "OAuth token has expired. Please obtain a new token or refresh your existing token."),
    (0, "API Error: OAuth token revoked · Please run /login"),
    (0, "Your access token could not be refreshed because you have since logged out."),
    (0, "Not logged in · Please run /login"),
    (0, "unexpected status 401 Unauthorized: Missing bearer or basic authentication in header"),
    (400, "API key not valid. Please pass a valid API key."),
    (400, "API key expired. Please renew the API key."),
    (403, "Your API key was reported as leaked. Please use another API key."),
    (0, '{"error":{"code":401,"status":"UNAUTHENTICATED","message":"Invalid API key (stub)"}}'),
    (0, '{"error":{"code":403,"status":"PERMISSION_DENIED"}}'),
    (0, "Invalid auth method selected."),
    (0, "Manual authorization is required but the current session is non-interactive."),
    (0, "Missing API key for OpenAI-compatible auth. Set settings.security.auth.apiKey"),
    (0, "Please set an Auth method in your settings.json or specify GEMINI_API_KEY"),
    (
        0,
        "When using Gemini API, specify the GEMINI_API_KEY environment variable: no API key",
    ),
    (0, "Error: invalid_grant"),
    (0, "This organization has been disabled."),
    (0, "usage_not_included: To use Codex with your ChatGPT plan, upgrade to Plus"),
]
CONTEXTS = [
    (413, "Request Entity Too Large"),
    (400, "prompt is too long: 999999 tokens > 200000 maximum (stub)"),
    (0, "Prompt is too long"),
    (0, "prompt_too_long"),
    (0, "ContextOverflowError: prompt is too long: 999999 tokens > 200000 maximum (stub)"),
    (0, '[API Error: {"error":{"code":400,"message":"prompt is too long: 9 tokens > 2 maximum"}}]'),
    (400, "This model's maximum context length is 8192 tokens. However, your messages resulted in"),
    (400, '{"error":{"code":"context_length_exceeded"}}'),
    (
        400,
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    (400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
    (0, "Codex ran out of room in the model's context window. Start a new conversation"),
    (400, "Your input exceeds the context window of this model. Please adjust your input"),
    (500, "the request exceeds the available context size. try increasing the context size"),
    (400, "request_too_large: Request exceeds the maximum size"),
    (400, "Range of input length should be [1, 129024]"),
]
REFUSALS = [
    (0, "API Error: Claude Code is unable to respond to this request, which appears to violate our "
     "Usage Policy (https://www.anthropic.com/legal/aup)."),
    (400, "Your prompt was flagged as potentially violating our usage policy."),
    (400, "The response was filtered due to the prompt triggering the content management policy. "
     "code: content_filter"),
    (0, "The response was blocked due to safety reasons."),
    (0, "finishReason: SAFETY"),
    (400, "data_inspection_failed: Input data may contain inappropriate content."),
]  # fmt: skip
SERVICE = [
    (500, ""),
    (500, "Internal error (stub)"),
    (503, "The model is overloaded. Please try again later."),
    (529, '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'),
    (503, '{"error":{"status":"UNAVAILABLE","message":"high demand; rate limit"}}'),
    (0, "API Error: Repeated 529 Overloaded errors"),
    (0, "Selected model is at capacity. Please try a different model."),
    (0, "connect ECONNREFUSED 127.0.0.1:9"),
    (0, "Unable to connect to API (ConnectionRefused)"),
    (0, "API Error: Connection error."),
    (0, "socket hang up"),
    (0, "TypeError: fetch failed sending request"),
    (0, "stream disconnected before completion: stream closed before response.completed"),
    (0, "Unexpected end of JSON input"),
    (404, "model: claude-none not found"),
    (400, "temperature: must be below 1"),
    (0, ""),
]


@pytest.mark.parametrize(
    ("status", "text", "fault"),
    [
        (status, text, fault)
        for fault, cases in {
            Fault.AGENT_LIMIT: LIMITS,
            Fault.AUTH: AUTHS,
            Fault.CONTEXT_FULL: CONTEXTS,
            Fault.REFUSED: REFUSALS,
            Fault.API_ERROR: SERVICE,
        }.items()
        for status, text in cases
    ],
)
def test_an_error_is_told_by_its_status_and_its_words(status, text, fault):
    assert classify(status, text) is fault


@pytest.mark.parametrize(
    "text",
    [
        "EACCES: permission denied, open '/clone/x'",
        "Disk quota exceeded",
        "rpm: command not found",
        'responseHeaders: {"x-ratelimit-limit-requests": "100"}',
        "ValueError: the key is missing",
        "Error: file too large",
        "Reconnecting... 1/5",
    ],
)
def test_words_that_only_look_like_a_limit_or_a_sign_in_are_neither(text):
    assert classify(0, text) is Fault.API_ERROR


@given(st.integers(500, 599), st.text())
def test_a_failing_service_is_never_the_agents_limit_nor_its_sign_in(status, text):
    assert classify(status, text) in (Fault.API_ERROR, Fault.CONTEXT_FULL)


@given(st.integers(-5, 2000), st.text())
def test_whatever_the_words_are_there_is_a_fault(status, text):
    assert classify(status, text) in Fault
