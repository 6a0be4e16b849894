"""Filters and tags of the templates."""

from __future__ import annotations

from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from tracker.pages import words

register = template.Library()

register.filter("duration", words.duration)
register.filter("stopwatch", words.stopwatch)
register.filter("quantity", words.quantity)
register.filter("money", words.money)


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """Return an icon of the sprite; `extra` are classes such as "i-s fg-bad"."""
    return format_html(
        '<svg class="i {}" aria-hidden="true"><use href="#i-{}"/></svg>', extra, name
    )


@register.filter
def clock(at: datetime | None) -> str:
    """Return local time, with the date only if it is not today."""
    return words.moment(timezone.localtime(at), timezone.localtime()) if at else ""


@register.filter
def stamp(at: datetime | None) -> str:
    return words.stamp(timezone.localtime(at)) if at else ""


@register.filter
def age(at: datetime | None) -> str:
    return words.age(at, timezone.now()) if at else ""


@register.filter
def words_of(text: str) -> list[str]:
    return text.split()


@register.filter
def tone_class(tone: str) -> str:
    """Return the class that colours text and icons in a status tone."""
    return "fg-acc" if tone == "acc" else f"fg-{tone}"


@register.filter
def unlocalized(number: float) -> str:
    """Return a number for an SVG attribute: always with a point, never grouped."""
    return f"{number:g}"


@register.filter
def add_to(number: float, more: float) -> str:
    """Return a shifted coordinate as text for an SVG attribute."""
    return unlocalized(round(number + float(more), 1))


@register.filter
def thousands(number: int) -> str:
    return f"{number:,}"


@register.filter
def without_amount(button: str) -> str:
    """Return the words of a button before its number is known: "Grant {} more" without {}."""
    return " ".join(button.replace("{}", "").split())


@register.filter
def small_tone(tone: str) -> str:
    return f"i-s {tone_class(tone)}"
