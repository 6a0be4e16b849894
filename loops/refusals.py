"""Refusals of the domain as pages: the sentence, the status, the frame around it."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from loops.pages.plain import ErrorPage
from tracker.access import is_from_script
from tracker.errors import Conflict, DomainError, Invalid, NotAllowed, NotFound
from tracker.pages.atoms import Act

_HOME = (Act(text="All loops", href="/"),)
# kind -> status, template, icon, headline
_WORDS: dict[type[DomainError], tuple[int, str, str, str]] = {
    NotAllowed: (403, "403.html", "lock", "You may not do this"),
    NotFound: (404, "404.html", "q", "There is nothing here"),
    Conflict: (409, "409.html", "person", "This cannot be done now"),
    Invalid: (422, "409.html", "warn", "This was not taken"),
}


class RefusalMiddleware:
    """Turns a DomainError that a view let through into its page; scripts get the bare sentence."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, fault: Exception) -> HttpResponse | None:
        return refusal(request, fault) if isinstance(fault, DomainError) else None


def refusal(request: HttpRequest, fault: DomainError) -> HttpResponse:
    status, template, icon, headline = next(
        words for kind, words in _WORDS.items() if isinstance(fault, kind)
    )
    if is_from_script(request):
        return HttpResponse(str(fault), status=status, content_type="text/plain; charset=utf-8")
    page = ErrorPage(
        title=str(status), icon=icon, headline=headline, sentence=str(fault), acts=_HOME
    )
    return render(request, template, {"page": page}, status=status)


def forged(request: HttpRequest, reason: str = "") -> HttpResponse:
    """What a form gets whose token is missing or old (Django's CSRF check)."""
    return refusal(
        request,
        NotAllowed(
            "This form is too old, or it came from another site; nothing was changed. Load the "
            "page again, then send it once more. It needs cookies."
        ),
    )


def no_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler404: an address that leads nowhere."""
    return refusal(request, NotFound("No page has this address. It may be a typing slip."))


def no_sense(request: HttpRequest, exception: Exception) -> HttpResponse:
    """handler400: what no form or page of ours sends."""
    answer = refusal(request, Invalid("This request could not be understood; nothing was changed."))
    answer.status_code = 400
    return answer
