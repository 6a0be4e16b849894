"""Signing in and out. A link is consumed by POST only: mail scanners and previews send GET.

The pages' referrer policy is same-origin (templates/base.html): no other site learns a link. The
stricter no-referrer would make the browser send "Origin: null", which the CSRF check refuses.
"""

from __future__ import annotations

from django.contrib.auth import login, logout
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from loops import first_run, sign_in
from loops.pages.plain import AccountPage, LinkPage, NoLinkPage
from loops.reading import links
from tracker.access import Right, may
from tracker.models import Membership

_BACK = "loopwatch_back"  # the link comes from a terminal: only a cookie knows the way back
_BACKEND = "django.contrib.auth.backends.ModelBackend"


@login_not_required
@never_cache
@require_safe
def no_link(request: HttpRequest) -> HttpResponse:
    """Where strangers end up: how to get a link; the way back is kept."""
    back = _local(request.GET.get("next", ""))
    if request.user.is_authenticated:
        return redirect(back or "/")
    page = NoLinkPage(
        headline="You are signed out",
        sentence="Signing in needs a link that works once.",
        minutes=sign_in.MINUTES,
        back=back,
    )
    answer = render(request, "login/none.html", {"page": page})
    if back:
        answer.set_cookie(
            _BACK, back, max_age=3600, path="/login/", httponly=True, samesite="Lax",
            secure=request.is_secure(),
        )  # fmt: skip
    return answer


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def link(request: HttpRequest, token: str) -> HttpResponse:
    """GET: the button. POST: consume the link, sign in, go back."""
    address, back = request.META.get("REMOTE_ADDR", ""), _way_back(request)
    try:
        if request.method != "POST":
            name = sign_in.look(token, address).user.get_username()
            page = LinkPage(post=request.get_full_path(), name=name, back=back)
            return render(request, "login/link.html", {"page": page})
        user = sign_in.use(token, address)
    except sign_in.Unusable as fault:
        refused = NoLinkPage(
            headline=fault.headline, sentence=fault.sentence, minutes=sign_in.MINUTES, back=back
        )
        return render(request, "login/none.html", {"page": refused}, status=fault.status)
    login(request, user, backend=_BACKEND)
    answer = redirect(back or _first_page(user))
    answer.delete_cookie(_BACK, path="/login/", samesite="Lax")
    return answer


@login_not_required
@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("login")


@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """Who one is, what one may do, and the button that signs out."""
    held = Membership.objects.filter(user_id=request.user.pk).select_related("project")
    roles = [f"{m.role} of {m.project or 'all projects'}" for m in held.order_by("project__name")]
    sentence = (
        f"You are {' and '.join(roles)}." if roles else "You have no role in any project yet."
    )
    page = AccountPage(
        name=request.user.get_username(),
        sentence=f"{sentence} Other browsers stay signed in when you sign out here.",
        log_out="/logout/",
    )
    return render(request, "login/account.html", {"page": page})


def _first_page(user: AbstractBaseUser) -> str:
    """All loops; the first run while there is nothing to see there, for who can set it up."""
    is_first = first_run.is_empty() and may(user, Right.ADMINISTER, None)
    return links.WELCOME if is_first else links.INDEX


def _way_back(request: HttpRequest) -> str:
    return _local(request.GET.get("next", "") or request.COOKIES.get(_BACK, ""))


def _local(path: str) -> str:
    """A path on this host, else ""."""
    is_ours = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return path if is_ours and not path.startswith(("/login/", "/logout/")) else ""
