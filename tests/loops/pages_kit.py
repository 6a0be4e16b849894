"""A person in front of the pages: signed in, without a script."""

from __future__ import annotations

import re
from html import unescape

from tracker.services import members


def sign_in(client, name="ana", role="admin", project=None):
    """Sign `client` in as a person with that role (project None: everywhere)."""
    members.grant(name, role, project)
    client.force_login(members.known_user(name))
    return client


def text_of(answer) -> str:
    """What the page says, in one line, without its tags."""
    html = re.sub(r"<(script|style|svg)\b.*?</\1>", " ", answer.content.decode(), flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def said(answer) -> list[str]:
    """The messages that the page after a redirect shows."""
    return [str(message) for message in answer.context["messages"]]
