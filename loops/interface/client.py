"""`loopwatch` as an agent sees it: sends its arguments to the socket, prints the answer.

Stands alone (standard library only, run with -I -S -E): it is copied into the agent's PATH and must
work where nothing of Loopwatch can be imported. The server does all the parsing.

Wire: one request and one answer per connection, each a 4-byte big-endian length and that many
bytes: texts, each again a 4-byte length and UTF-8. Request: token, key, standard input, arguments.
Answer: exit code, output, error output.

An agent waits for each call, so nothing slow is imported: json, socket and contextlib (by way of
re, enum and selectors) would double the time of a call.
"""

import _socket
import os
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
    words = [os.fsencode(word).decode("utf-8", "replace") for word in argv]
    answer = ask(path, pack([token, os.urandom(16).hex(), text, *words]), patience)
    if answer is None:
        return _say(stderr, GONE.format(seconds=patience), 1)
    code, out, err = answer
    _write(stdout, out)
    _write(stderr, err)
    return code


def pack(texts: list[str]) -> bytes:
    """The body of a request or an answer."""
    data = [text.encode("utf-8", "replace") for text in texts]
    return b"".join(len(part).to_bytes(4, "big") + part for part in data)


def unpack(body: bytes) -> list[str]:
    """The texts of a body. Raises ValueError if it is none."""
    texts: list[str] = []
    at = 0
    while at < len(body):
        end = at + 4 + int.from_bytes(body[at : at + 4], "big")
        if end > len(body):
            raise ValueError("a text is cut off")
        texts.append(body[at + 4 : end].decode("utf-8", "replace"))
        at = end
    return texts


def ask(path, body, patience):
    """Exit code, output and error output, or None when no answer came in time. Every try sends the
    same key, so the server does the work once, however often the connection breaks."""
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
    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        link.settimeout(seconds)
        link.connect(path)
        try:  # noqa: SIM105
            link.sendall(len(body).to_bytes(4, "big") + body)
        except (BrokenPipeError, ConnectionResetError):
            pass  # a server that refuses early has answered and hung up: the answer is there
        size = _read(link, 4)
        return None if size is None else _answer(_read(link, int.from_bytes(size, "big")))
    finally:
        link.close()


def _answer(data):
    if data is None:
        return None
    code, out, err = unpack(data)
    return int(code), out, err


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
    try:
        stream.write(text.encode("utf-8", "replace"))
        stream.flush()
    except OSError:
        pass  # the reader may have gone: `loopwatch bug list | head -1`


def _binary(stream):
    return None if stream is None else stream.buffer


def _become_mcp_server() -> None:
    """`loopwatch mcp`: a program of its own, for it needs a library. install() says where it is."""
    server = globals().get("MCP_SERVER")
    if server:
        os.execv(sys.executable, [sys.executable, "-I", server, *sys.argv[2:]])


if __name__ == "__main__":
    if sys.argv[1:2] == ["mcp"]:
        _become_mcp_server()
    code = main(
        sys.argv[1:],
        os.environ,
        _binary(sys.stdin),
        _binary(sys.stdout),
        _binary(sys.stderr),
    )
    os._exit(code)  # nothing is buffered; skips the interpreter's slow goodbye
