"""What an agent typed, made safe to keep and to show, or refused with a sentence."""

from __future__ import annotations

import re
import unicodedata

from tracker.errors import Invalid

_UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_PLACE = re.compile(r"(?P<path>.+?)(?P<line>(?::[0-9]{1,9}){0,2})\Z", re.DOTALL)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


def harmless(value: str) -> str:
    """Without control characters; tabs and line feeds stay."""
    return _UNSAFE.sub("", value.replace("\r\n", "\n").replace("\r", "\n"))


def text(value: str, *, what: str, most: int | None) -> str:
    """Several lines without control characters. `what` names the value in a refusal. most:
    characters; None where the tracker has its own limit."""
    clean = harmless(value).strip()
    if not clean:
        raise Invalid(f"{what} is empty.")
    if most is not None and len(clean) > most:
        raise Invalid(f"{what} is {len(clean)} characters long; at most {most} are allowed.")
    return clean


def line(value: str, *, what: str, most: int = 300) -> str:
    """One line: breaks become spaces."""
    return text(" ".join(value.split()), what=what, most=most)


def place(value: str) -> str:
    """A place as "path", "path:line" or "path:line:column"; the path relative, without "."."""
    path, line_number = _split(value)
    return path + line_number


def place_with_line(value: str) -> str:
    """A place as "path:line"; a column is dropped, a missing line refused."""
    path, line_number = _split(value)
    if not line_number:
        raise Invalid(f"Name the line too: {path}:LINE.")
    return f"{path}:{line_number.split(':')[1]}"


def _split(value: str) -> tuple[str, str]:
    found = _PLACE.match(text(value, what="The place", most=1000))
    assert found is not None  # the text is not empty
    parts = [part for part in found["path"].split("/") if part not in ("", ".")]
    if not parts or ".." in parts or found["path"].startswith("/") or "\n" in found["path"]:
        raise Invalid(
            "A place is a path inside the repository, relative, with an optional line: "
            "src/file.py:12."
        )
    return "/".join(parts), found["line"]


def commit(value: str, head: str) -> str:
    """A full commit id; `value` may be empty, "HEAD" or a beginning of `head`."""
    wanted = value.strip().lower()
    if wanted in ("", "head") or (len(wanted) >= 7 and head.startswith(wanted)):
        wanted = head
    if not wanted:
        raise Invalid("There is no commit yet: commit the fix first.")
    if not _COMMIT.match(wanted):
        raise Invalid(
            "Give the whole commit id, as `git rev-parse COMMIT` prints it; "
            "without --commit, HEAD counts."
        )
    return wanted


def shown(value: object, most: int = 60) -> str:
    """Something an agent typed, short enough and harmless to repeat in a sentence."""
    clean = " ".join(_UNSAFE.sub("", str(value)).split())
    clean = "".join("?" if unicodedata.category(each) == "Cf" else each for each in clean)
    return clean if len(clean) <= most else f"{clean[:most]}..."
