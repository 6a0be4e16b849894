"""Takes secrets out of text, also out of a stream whose pieces cut a secret in two."""

from __future__ import annotations

import base64
import bisect
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

MARKER = "[secret removed]"
# A shorter value says nothing and would tear holes into every line.
SHORTEST_SECRET = 4
_SHORTEST_LINE = 16
_SHORTEST_BASE64 = 8


def forms(secret: str) -> frozenset[str]:
    """The ways in which tools print a secret: as it is, URL-encoded, JSON-escaped (once and twice,
    as in an event that quotes a file), base64 (also inside a longer base64 text), and the longer
    lines of a secret of several lines (a private key)."""
    secret = secret.encode("utf-8", "replace").decode()
    if len(secret) < SHORTEST_SECRET:
        return frozenset()
    lines = [line.strip() for line in secret.splitlines()]
    parts = [line for line in lines if len(line) >= _SHORTEST_LINE and not line.startswith("-----")]
    found = {secret, secret.replace("\n", "\r\n"), *parts}
    for part in (secret, *parts):
        found.update(_url_forms(part), _json_forms(part), _base64_forms(part))
    return frozenset(form for form in found if len(form) >= SHORTEST_SECRET)


def _url_forms(text: str) -> Iterator[str]:
    for encoded in (quote(text, safe=""), quote(text), quote_plus(text)):
        yield encoded
        yield re.sub("%..", lambda escape: escape[0].lower(), encoded)


def _json_forms(text: str) -> Iterator[str]:
    for once in (json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield once
        yield once.replace("/", "\\/")
        yield json.dumps(once)[1:-1]


def _base64_forms(text: str) -> Iterator[str]:
    data = text.encode()
    yield base64.b64encode(data).decode().rstrip("=")
    yield base64.urlsafe_b64encode(data).decode().rstrip("=")
    for shift in range(3):
        # Letters that depend on the secret alone when `shift` (mod 3) bytes stand before it.
        inner = slice(-(-8 * shift // 6), 8 * (shift + len(data)) // 6)
        if inner.stop - inner.start >= _SHORTEST_BASE64:
            yield base64.b64encode(bytes(shift) + data).decode()[inner]
            yield base64.urlsafe_b64encode(bytes(shift) + data).decode()[inner]


class Redactor:
    """Replaces every form of every secret by MARKER, the leftmost and longest first.

    feed() holds back what could still become a secret, always less than the longest form; finish()
    gives the rest. The joined result does not depend on how the text was cut.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._forms = sorted({form for secret in secrets for form in forms(secret)})
        longest_first = sorted(self._forms, key=len, reverse=True)
        self._secret = re.compile("|".join(map(re.escape, longest_first)))
        self._first = re.compile("|".join(re.escape(form[0]) for form in self._forms))
        self._reach = max(map(len, self._forms), default=1) - 1
        self._held = ""

    def feed(self, text: str) -> str:
        if not self._forms:
            return text
        text = self._held + text
        done: list[str] = []
        at = 0
        while True:
            hold = self._undecided(text, at)
            match = self._secret.search(text, at)
            if match is None or match.start() >= hold:
                break
            done += [text[at : match.start()], MARKER]
            at = match.end()
        done.append(text[at:hold])
        self._held = text[hold:]
        return "".join(done)

    def _undecided(self, text: str, at: int) -> int:
        """Where the first secret could begin that the end of the text cuts off."""
        for candidate in self._first.finditer(text, max(at, len(text) - self._reach)):
            tail = text[candidate.start() :]
            place = bisect.bisect_right(self._forms, tail)
            if place < len(self._forms) and self._forms[place].startswith(tail):
                return candidate.start()
        return len(text)

    def finish(self) -> str:
        rest, self._held = self._held, ""
        return self._secret.sub(MARKER, rest) if self._forms else rest

    def whole(self, text: str) -> str:
        """A text that stands alone, without secrets; ready for the next one."""
        return self.feed(text) + self.finish()


def redact(text: str, secrets: Iterable[str]) -> str:
    """One whole text without secrets; for several keep a Redactor."""
    return Redactor(secrets).whole(text)
