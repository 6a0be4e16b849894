"""Which fault an error is, by its HTTP status and its words. Only ever given the text of errors: an
agent's own speech may hold any of these words.

A person must act on AUTH (sign in again, another key, money on the account). AGENT_LIMIT passes by
itself. CONTEXT_FULL needs a shorter prompt, REFUSED another one. API_ERROR is worth another try.
"""

from __future__ import annotations

import re

from loops.engine.values import Fault

_FORBIDDEN = (401, 403)
_TOO_LARGE = 413
_TOO_MANY = 429
_NO_MONEY_LEFT = 402
_FIRST_OF_SERVER = 500


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# No money is no matter of waiting, though vendors answer with 400, 402, 403 or 429.
_NO_MONEY = _words(
    r"credit balance is too low",
    r"insufficient[_ ](?:quota|balance|credits?|funds)",
    r"billing[_ ](?:hard[_ ]limit|not[_ ]active|error)",
    r"payment required",
    r"usage_not_included|to use codex with your chatgpt plan",
    r"requires more credits|out of credits|purchase (?:more )?credits",
    r"account (?:is )?(?:not active|deactivated|suspended|disabled)|account_deactivated",
    r"organization has been (?:disabled|restricted)",
)
# OpenAI's sentence for an empty account; Gemini begins every rate limit with it.
_NO_QUOTA = _words(r"exceeded your current quota, please check your plan and billing")
_GEMINI_LIMIT = _words(r"resource_exhausted|quota exceeded for metric|retry in \d|gemini-api")
_CONTEXT = _words(
    r"prompt[_ ]is[_ ]too[_ ]long|prompt_too_long",
    r"(?:input|prompt|request|conversation|message|context) (?:is |was )?too (?:long|large)\b",
    r"request_too_large",
    r"context[_ ]length[_ ]exceeded|contextoverflow|context[_ ]window[_ ]exceeded",
    r"maximum context length|context length of only",
    r"exceeds? (?:the |your )?(?:model'?s? |available |maximum )*context (?:length|window|size)",
    r"(?:ran out of room in|exceed(?:s|ed)|larger than|fit (?:in|into)) the (?:\w+'?s? )?context",
    r"input token count.{0,40}exceeds the maximum",
    r"input length and `?max_tokens`? exceed context limit",
    r"tokens? > \d+ maximum|too many (?:input )?tokens(?!.{0,30}(?:wait|per ))",
    r"exceed_context_size|reduce the length of the (?:messages|prompt|input)",
    r"range of input length should be",
)
_LIMIT = _words(
    r"(?<!-)rate[-_ ]?limit",  # not x-ratelimit-..., a header of any answer
    r"too[-_ ]many[-_ ]requests",
    r"resource[-_ ]?(?:has been )?exhausted|too many tokens.{0,30}(?:wait|per )",
    r"(?:usage|session|weekly|daily|hourly|monthly|5-hour|opus|sonnet|request|plan|quota) limit",
    r"usage_limit_reached|limit reached\|\d",
    r"hit your (?:\w+ )?limit|reached your (?:\w+ )*limit|out of (?:extra )?usage",
    r"(?<!disk )quota (?:exceeded|limit|will reset)|exceeded your (?:\w+ )*quota",
    r"exhausted your (?:\w+ )*(?:quota|capacity)|free (?:usage|tier).{0,20}exceeded|freeusagelimit",
    r"(?:tokens|requests) per (?:min|minute|day)|\([tr]p[md]\)",
)
_AUTH = _words(
    r"\b(?:invalid|incorrect|missing|wrong|expired|revoked|no)[-_ ](?:x-)?api[-_ ]?key",
    r"api[-_ ]?key (?:is |was )?(?:(?:not |in)valid|not found|expired|missing|required|not set)",
    r"api_key_invalid|reported as leaked",
    r"pass a valid api key|provide (?:an|your) api key|set (?:the |your )?\w*api_key",
    r"authentication[_ ](?:error|failed|required|fails)|failed to authenticate|not authenticated",
    r"\bunauthenticated\b|\bunauthori[sz]ed\b|invalid authentication|\bauthentication is required",
    r"permission_(?:error|denied)",  # with a blank it may be a file's
    r"oauth (?:token|session|access).{0,40}(?:expired|revoked|invalid|not allowed)",
    r"(?:access|refresh|auth|bearer|session) token.{0,30}(?:expired|revoked|invalid|could not be "
    r"refreshed)|invalid_grant|token_expired|token has been invalidated",
    r"invalid (?:bearer|access|auth) token|invalid credentials|bad credentials|invalid_client",
    r"(?:please|need to|must) (?:run )?/?log ?in\b|not logged in|sign in again|log in again"
    r"|please run /login|session (?:has )?expired",
    r"invalid auth method|please set an auth method|no auth(?:entication)? (?:method|type)",
    r"manual authorization is required",
    r"could not (?:load|refresh|find) (?:the )?(?:default )?credentials|no credentials",
)
_REFUSED = _words(
    r"violat\w+ (?:of )?(?:our|the|anthropic's|openai's) (?:\w+ )*polic",
    r"content[_ ](?:policy|filter)|flagged (?:as|by|for)|cyber_policy",
    r"blocked (?:by|due to|because of) (?:\w+ )*(?:safety|content|polic|prohibited|recitation)",
    r"(?:safety|recitation)[_ ]?blocked|prohibited_content",
    r"finish_?reason.{0,4}(?:safety|recitation)|\bstop_reason.{0,5}refusal",
    r"(?:model|claude|claude code) (?:has )?(?:refused|declined|is unable to respond)",
    r"data_inspection_failed|inappropriate content",
)
_OVERLOADED = _words(r"overloaded|at capacity|service[_ ]unavailable|high demand")


def classify(status: int, text: str) -> Fault:
    """status: as the service answered, 0 if none is known. Words first where they say more than the
    status does; a status of 5xx is the service's own failure whatever its words say."""
    if status >= _FIRST_OF_SERVER:
        return Fault.CONTEXT_FULL if _CONTEXT.search(text) else Fault.API_ERROR
    if status == _NO_MONEY_LEFT or _is_out_of_money(text):
        return Fault.AUTH
    if status == _TOO_MANY:
        return Fault.AGENT_LIMIT
    if _CONTEXT.search(text) or status == _TOO_LARGE:
        return Fault.CONTEXT_FULL
    if status in _FORBIDDEN:
        return Fault.AGENT_LIMIT if _is_limit(text) else Fault.AUTH
    return _by_words(text)


def _by_words(text: str) -> Fault:
    for pattern, fault in ((_REFUSED, Fault.REFUSED), (_AUTH, Fault.AUTH)):
        if pattern.search(text):
            return fault
    return Fault.AGENT_LIMIT if _is_limit(text) else Fault.API_ERROR


def _is_limit(text: str) -> bool:
    """A service that everybody asks too much of is no limit of this agent."""
    return bool(_LIMIT.search(text)) and not _OVERLOADED.search(text)


def _is_out_of_money(text: str) -> bool:
    if _NO_MONEY.search(text):
        return True
    return bool(_NO_QUOTA.search(text)) and not _GEMINI_LIMIT.search(text)
