"""A key that an agent has is in no row, page, log or export, however it comes out (case O15)."""

import base64
import io
import json
import re
import sys
import textwrap
import zipfile

import pytest
from django.conf import settings
from django.db import connection

from escalations.models import Escalation
from loops import secrets
from loops.models import Iteration, Session
from tests.loops.pages_kit import sign_in
from tests.loops.test_scripted_sessions import play, repo  # noqa: F401

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
SECRET = "sk-planted-7Qm2/Zr9+Xw4=Lk8Tn3Vb6Yd1Hs5Fg0Jc"
TRACES = (SECRET, SECRET[:24], SECRET[-24:], base64.b64encode(SECRET.encode()).decode()[:40])

# Speaks as Claude Code does, and tells its key in every way it knows.
CLAUDE = f"""\
#!{sys.executable}
import base64, json, os, subprocess, sys, time
if "--version" in sys.argv:
    sys.exit(print("2.1.332 (Claude Code)"))
key = os.environ["ANTHROPIC_API_KEY"]
run = lambda *words: subprocess.run(words, input="", text=True)

def say(**line):
    print(json.dumps(line), flush=True)

def content(role, *blocks):
    say(type=role, message={{"id": "m", "model": "claude-x", "content": list(blocks)}})

say(type="system", subtype="init", session_id="c-1", model="claude-x")
content("assistant", {{"type": "text", "text": "My key is " + key}})
content("assistant", {{"type": "tool_use", "id": "t", "name": "Bash",
                      "input": {{"command": "curl -H 'x-api-key: " + key + "'"}}}})
open("tool.env", "w").write("KEY=" + key)
content("user", {{"type": "tool_result", "tool_use_id": "t",
                 "content": "x" * 1990 + open("tool.env").read()}})
os.unlink("tool.env")
content("user", {{"type": "tool_result", "tool_use_id": "t", "is_error": True,
                 "content": base64.b64encode(key.encode()).decode()}})
line = json.dumps({{"type": "assistant", "message": {{"content": [
    {{"type": "text", "text": "again " + key}}]}}}}) + "\\n"
for part in (line[:len(line) // 2], line[len(line) // 2:]):
    sys.stdout.write(part)
    sys.stdout.flush()
    time.sleep(0.4)
sys.stderr.write("debug: " + key[:20])
sys.stderr.flush()
time.sleep(0.3)
sys.stderr.write(key[20:] + "\\n")
run("loopwatch", "bug", "file", "--spec", "--cites", "R-1", "--text", "key " + key, "T " + key)
run("loopwatch", "guidance", "set", key)
say(type="result", subtype="success", is_error=True, api_error_status=401,
    result="invalid x-api-key: " + key, session_id="c-1")
sys.exit(1)
"""


@pytest.fixture
def session(play, tmp_path):  # noqa: F811
    program = tmp_path / "claude"
    program.write_text(textwrap.dedent(CLAUDE))
    program.chmod(0o755)
    secrets.keep("anthropic", SECRET)
    agent = {
        "adapter": "claude",
        "program": str(program),
        "model": "claude-x",
        "key": "anthropic",
        "wall_seconds": 60,
    }
    return play(None, agents={"worker": agent, "reviewer": agent}, limit=3)


def test_the_agent_really_had_it_and_was_told_apart(session):
    detail = Iteration.objects.get(number=1).detail
    assert detail == "claude: invalid x-api-key: [secret removed]"
    assert session.state == "waiting_human"


def test_it_is_in_no_row(session):
    for table in connection.introspection.table_names():
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT * FROM "{table}"')
            for row in cursor.fetchall():
                assert clean(repr(row)), f"a row of {table} holds it: {row!r:.300}"


def test_it_is_in_no_file_of_the_data_folder_but_the_agent_s_own(session):
    own = re.compile(r"/sessions/\d+/(clone|home|tmp)/")
    for path in settings.DATA.rglob("*"):
        if path.is_file() and not own.search(str(path)) and "/keys/" not in str(path):
            assert clean(path.read_bytes().decode("utf-8", "replace")), path


def test_it_is_on_no_page_and_in_no_export(session, client):
    sign_in(client)
    one = f"/sessions/{session.pk}/"
    shows = ("", "?show=diff", "?show=prompt", "?show=files", "?show=output")
    paths = [f"{one}{show}" for show in shows]
    paths += [f"{one}iterations/1/{show}" for show in shows]
    paths += [f"{one}iterations/1/raw/", f"{one}history/", "/", "/queue/"]
    paths += [f"/queue/{asked}/" for asked in Escalation.objects.values_list("pk", flat=True)]
    paths += ["/p/p/tracker/", "/p/p/tracker/Q-1/", "/p/p/specs/"]
    for path in paths:
        answer = client.get(path)
        assert answer.status_code == 200, path
        body = b"".join(answer) if answer.streaming else answer.content
        assert clean(body.decode()), path
    exported = b"".join(client.get(f"{one}export/"))
    with zipfile.ZipFile(io.BytesIO(exported)) as archive:
        for name in archive.namelist():
            assert clean(archive.read(name).decode("utf-8", "replace")), name


def clean(text: str) -> bool:
    quoted = json.dumps(text)
    return not any(trace in text or json.dumps(trace)[1:-1] in quoted for trace in TRACES)


def test_this_test_would_find_it():
    assert not clean(f"... {SECRET[:24]} ...")
    assert Session.objects.count() == 0
