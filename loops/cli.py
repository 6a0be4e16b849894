"""`loopwatch`: Django's command line with our settings, our list of commands and no traceback.

Exit codes: 0, 1 failed (unexpected; the log file has the traceback), 2 refused with a sentence.
"""

from __future__ import annotations

import ast
import os
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from loops.environment import BadSetting

_PACKAGES = ("loops", "tracker", "escalations")
_INTERNAL = {"clock"}  # `up` runs it
_SUPPORTED = ("linux", "darwin")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    argv = ["loopwatch", *(sys.argv[1:] if arguments is None else arguments)]
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loops.settings")
    if not sys.platform.startswith(_SUPPORTED):
        return _refuse("Loopwatch runs on Linux and, with less protection, on macOS.")
    if argv[1:2] in ([], ["--help"], ["-h"]) or argv[1:] == ["help"]:
        print(_overview())
        return 0
    if argv[1] == "--version":
        print(_version())
        return 0
    try:
        return _run(argv)
    except BadSetting as refusal:
        return _refuse(str(refusal))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stdout = None  # type: ignore[assignment]  # nothing is flushed into it at the exit
        return 1
    except Exception:
        return _failed(argv[1])


def _run(argv: list[str]) -> int:
    _take_data_folder(argv)
    from django.core.management import execute_from_command_line, get_commands

    if argv[1] == "manage":
        argv = [argv[0], *(argv[2:] or ["help"])]
    elif argv[1] not in {name for name, _ in commands()} and argv[1] not in get_commands():
        return _refuse(f"There is no command “{argv[1]}”; loopwatch --help lists them.")
    try:
        execute_from_command_line(argv)
    except SystemExit as end:
        if isinstance(end.code, str):
            return _refuse(end.code)
        return end.code or 0
    return 0


def _take_data_folder(argv: list[str]) -> None:
    """`up --data X` is LOOPWATCH_DATA=X, and settings read that before any command parses."""
    if argv[1] != "up":
        return
    for place, word in enumerate(argv):
        if word == "--data" and place + 1 < len(argv):
            os.environ["LOOPWATCH_DATA"] = argv[place + 1]
        elif word.startswith("--data="):
            os.environ["LOOPWATCH_DATA"] = word.removeprefix("--data=")


def commands() -> Iterator[tuple[str, str]]:
    """(name, help) of the product's own commands, read without importing them: an overview that
    loads Django and every model takes a second."""
    root = Path(__file__).resolve().parent.parent
    for package in _PACKAGES:
        for path in sorted((root / package / "management" / "commands").glob("[!_]*.py")):
            yield path.stem, _help(path)


def _help(path: Path) -> str:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Assign(targets=[ast.Name(id="help")], value=ast.Constant(value=str(text))):
                return text
    return ""


def _overview() -> str:
    found = sorted((name, text) for name, text in commands() if name not in _INTERNAL)
    width = max(len(name) for name, _ in found)
    lines = "\n".join(f"  {name:<{width}}  {text}".rstrip() for name, text in found)
    return (
        "loopwatch runs and supervises loops of AI agents on a git repository.\n\n"
        f"{lines}\n\n"
        "`loopwatch COMMAND --help` explains one of them; `loopwatch manage` lists what Django "
        "adds.\nLOOPWATCH_DATA names the data folder."
    )


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"loopwatch {version('loopwatch')}"
    except PackageNotFoundError:
        return "loopwatch (not installed: runs from a checkout)"


def _refuse(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 2


def _failed(command: str) -> int:
    """Writes the traceback to the log file: by hand, for the failure may be the settings' own."""
    where = "no log file could be written"
    try:
        from loops.environment import data_folder

        log = data_folder() / "logs" / "loopwatch.log"
        log.parent.mkdir(mode=0o700, exist_ok=True)
        with log.open("a", encoding="utf-8") as file:
            moment = time.strftime("%Y-%m-%d %H:%M:%S")
            file.write(f"{moment} {os.getpid()} ERROR loopwatch {command}:\n")
            file.write(traceback.format_exc())
        where = f"the details are in {log}"
    except (OSError, BadSetting):
        pass
    kind = sys.exc_info()[0]
    name = kind.__name__ if kind else "unknown"
    print(f"loopwatch {command} failed unexpectedly ({name}); {where}.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
