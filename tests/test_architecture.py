"""The shape of the source that the design promises (DESIGN 1 and 2)."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import TOP, plain_environment

pytestmark = pytest.mark.once

APPS = ("loops", "tracker", "escalations")
ENGINES = sorted(path.parent for app in APPS for path in (TOP / app).glob("engine/__init__.py"))


def test_engines_load_neither_django_nor_celery():
    modules = [
        ".".join(path.relative_to(TOP).with_suffix("").parts)
        for engine in ENGINES
        for path in engine.rglob("*.py")
    ]
    assert "loops.engine.values" in modules
    code = (
        "import importlib, sys\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], env=plain_environment(), capture_output=True, text=True
    )
    assert loaded.returncode == 0, loaded.stderr
    assert not {"django", "celery", "kombu", "redis"} & set(loaded.stdout.split())


@pytest.mark.parametrize("engine", ENGINES, ids=lambda path: path.parent.name)
def test_engines_import_the_standard_library_and_themselves_only(engine: Path):
    own = f"{engine.parent.name}.engine"
    strangers = {
        f"{path.name}: {name}"
        for path in engine.rglob("*.py")
        for name in _imports(path)
        if name.partition(".")[0] not in sys.stdlib_module_names
        and name != own
        and not name.startswith(own + ".")
    }
    assert not strangers


def test_apps_import_downwards_only():
    ran = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=TOP, env=plain_environment(), capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_core_package_is_empty_so_that_engines_stay_light():
    assert (TOP / "loops" / "__init__.py").read_text() == ""


def test_no_module_is_called_by_a_word_that_says_nothing():
    empty_words = {"utils", "helpers", "common", "misc"}
    assert not [path for app in APPS for path in (TOP / app).rglob("*") if path.stem in empty_words]


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=module, level=level):
                assert level == 0, f"{path}: relative import"
                found.add(module)
    return found
