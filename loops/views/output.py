"""An iteration's output from a cursor, for pages that missed pieces."""

from __future__ import annotations

from operator import attrgetter

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from loops import live, services
from loops.models import Iteration, OutputPiece
from tracker.access import guarded, is_from_script
from tracker.errors import NotFound

MOST_TEXT = 512 * 1024  # characters in one answer; a page asks again while there is `more`
MOST_PIECES = 500


@never_cache
@require_safe
@guarded("session_id", services.get_session, project_of=attrgetter("project"))
def output(request: HttpRequest, session_id: object, number: int) -> HttpResponse:
    """?after=12 -> {"pieces": [{"seq": 13, "text", "at", "clock"}], "more": false,
    "rest": "text of the line that piece 12 left unfinished", "is_over": false}.

    A browser that follows the address without script gets the iteration's page.
    """
    if not is_from_script(request):
        return redirect("..")
    one = Iteration.objects.filter(session=session_id, number=number).first()
    if one is None:
        raise NotFound(f"{session_id} has no iteration {number}.")
    after = request.GET.get("after", "0")
    seq = int(after) if after.isascii() and after.isdigit() and len(after) < 10 else 0
    rows = OutputPiece.objects.filter(iteration=one, seq__gt=seq).order_by("seq")
    pieces, size = [], 0
    for piece in rows[:MOST_PIECES].iterator():
        if pieces and size + len(piece.text) > MOST_TEXT:
            break
        size += len(piece.text)
        pieces.append(live.piece(piece.seq, piece.text, piece.at))
    last = pieces[-1]["seq"] if pieces else seq
    return JsonResponse(
        {
            "pieces": pieces,
            "more": rows.filter(seq__gt=last).exists(),
            "rest": _rest(one, seq),
            "is_over": one.ended_at is not None,
        }
    )


def _rest(one: Iteration, seq: int) -> str:
    """The beginning of the line that goes on after piece `seq`; "" if that piece ends one.

    It may have begun many pieces before; more than MOST_TEXT of one line is not asked for.
    """
    parts, size = [], 0
    before = OutputPiece.objects.filter(iteration=one, seq__lte=seq).order_by("-seq")
    for text in before.values_list("text", flat=True).iterator():
        _, is_broken, rest = text.rpartition("\n")
        parts.append(rest)
        size += len(rest)
        if is_broken or size > MOST_TEXT:
            break
    return "".join(reversed(parts))
