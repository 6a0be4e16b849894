"""Pages of one message: errors, sign-in, account."""

from __future__ import annotations

from dataclasses import dataclass

from tracker.pages.atoms import Act


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorPage:
    """403, 404, 409 (templates of these names, all errors/error.html) in the frame.

    title: short, for the breadcrumb ("S-410"). sentence: what is missing and who can help, or the
    nearest thing there is. reference: of the log entry, or "".
    """

    title: str
    icon: str
    headline: str
    sentence: str
    crumb: str = ""
    acts: tuple[Act, ...] = ()
    reference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkPage:
    """login/link.html: a GET shows the button, its POST consumes the link. back: page in words."""

    post: str
    name: str = ""
    back: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoLinkPage:
    """login/none.html: signed out, or a link that was used or ran out."""

    headline: str
    sentence: str
    minutes: int = 10
    back: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountPage:
    name: str
    sentence: str
    log_out: str
