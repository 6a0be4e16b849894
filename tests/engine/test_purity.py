"""The engine stands alone: no Django, no Celery, nothing but the standard library."""

import pkgutil
import subprocess
import sys

import loops.engine

MODULES = [module.name for module in pkgutil.iter_modules(loops.engine.__path__)]

PROBE = """
import importlib, sys
before = set(sys.modules)
for name in sys.argv[1:]:
    importlib.import_module(f"loops.engine.{name}")
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
strange = loaded - set(sys.stdlib_module_names) - {"loops"}
outside = {m for m in sys.modules if m.startswith("loops.") and not m.startswith("loops.engine")}
side = set(sys.modules) & {"sqlite3", "socket", "subprocess", "random", "time", "datetime"} - before
print(sorted(strange), sorted(outside), sorted(side))
"""


def test_every_engine_module_imports_without_django():
    assert {"values", "lifecycle", "controllers", "single_thread", "questions"} <= set(MODULES)
    seen = subprocess.run(
        [sys.executable, "-c", PROBE, *MODULES], capture_output=True, text=True, check=True
    )
    assert seen.stdout.strip() == "[] [] []"
