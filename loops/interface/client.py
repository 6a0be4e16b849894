"""`loopwatch` as an agent sees it: sends its arguments to the socket, prints the answer.

Stands alone (standard library only, run with -I -S -E): it is copied into the agent's PATH and must
work where nothing of Loopwatch can be imported. The server does all the parsing.

Wire: one request and one answer per connection, each a 4-byte big-endian length and that many bytes
of JSON. Request {"token", "key", "argv", "stdin"}; answer {"code", "out", "err"}.
"""

import contextlib
import json
import os
import socket
import sys
import time

PATIENCE = 60.0
"""Seconds to keep trying: long enough for a supervisor that restarts."""
MOST_INPUT = 4 * 1024 * 1024
"""Bytes read from standard input for an argument "-"."""

OUTSIDE = (
    "loopwatch: this works only inside an iteration of Loopwatch "
    "(LOOPWATCH_SOCKET and LOOPWATCH_TOKEN are not set)."
)
GONE = (
    "loopwatch: nobody answers at the iteration's socket, tried for {seconds:.0f} s: the iteration "
    "is over or its supervisor is gone. It is not known whether the request was carried out."
)
TOO_MUCH = "loopwatch: standard input is longer than {most} bytes; send less."


def main(argv, environ, stdin, stdout, stderr, patience=PATIENCE):
    """Run one command. stdin, stdout, stderr: binary streams (stdin may be None). Returns the exit
    code: 0, 1 failed, 2 refused with a sentence."""
    path, token = environ.get("LOOPWATCH_SOCKET"), environ.get("LOOPWATCH_TOKEN")
    if not path or not token:
        return _say(stderr, OUTSIDE, 2)
    text = ""
    if "-" in argv and stdin is not None:
        data = stdin.read(MOST_INPUT + 1)
        if len(data) > MOST_INPUT:
            return _say(stderr, TOO_MUCH.format(most=MOST_INPUT), 2)
        text = data.decode("utf-8", "replace")
    request = {
        "token": token,
        "key": os.urandom(16).hex(),
        "argv": [os.fsencode(word).decode("utf-8", "replace") for word in argv],
        "stdin": text,
    }
    answer = _ask(path, json.dumps(request).encode(), patience)
    if answer is None:
        return _say(stderr, GONE.format(seconds=patience), 1)
    _write(stdout, answer["out"])
    _write(stderr, answer["err"])
    return answer["code"]


def _ask(path, body, patience):
    """The answer, or None when none came in time. Every try sends the same key, so the server does
    the work once, however often the connection breaks."""
    deadline = time.monotonic() + patience
    pause = 0.05
    while True:
        left = deadline - time.monotonic()
        try:
            answer = _exchange(path, body, max(left, 0.1))
        except (OSError, ValueError):
            answer = None
        if answer is not None:
            return answer
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        time.sleep(min(pause, left))
        pause = min(pause * 2, 2.0)


def _exchange(path, body, seconds):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(seconds)
        link.connect(path)
        # a server that refuses early has answered and hung up: the answer is still there
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            link.sendall(len(body).to_bytes(4, "big") + body)
        size = _read(link, 4)
        return None if size is None else _answer(_read(link, int.from_bytes(size, "big")))


def _answer(data):
    if data is None:
        return None
    answer = json.loads(data)
    return {"code": int(answer["code"]), "out": str(answer["out"]), "err": str(answer["err"])}


def _read(link, count):
    parts = []
    while count:
        part = link.recv(min(count, 1 << 16))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _say(stderr, sentence, code):
    _write(stderr, sentence + "\n")
    return code


def _write(stream, text):
    if stream is None or not text:
        return
    with contextlib.suppress(OSError):  # the reader may have gone: `loopwatch bug list | head -1`
        stream.write(text.encode("utf-8", "replace"))
        stream.flush()


def _binary(stream):
    return None if stream is None else stream.buffer


if __name__ == "__main__":
    code = main(
        sys.argv[1:],
        os.environ,
        _binary(sys.stdin),
        _binary(sys.stdout),
        _binary(sys.stderr),
    )
    os._exit(code)  # nothing is buffered; skips the interpreter's slow goodbye
