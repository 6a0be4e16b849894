"""The wheel carries all it needs and works outside a checkout."""

import os
import signal
import subprocess
import sys
import sysconfig
import urllib.request
import zipfile
from pathlib import Path

import pytest

from tests.conftest import TOP, plain_environment
from tests.loops.upping import Up

pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out]
    subprocess.run(build, cwd=TOP, check=True, capture_output=True, timeout=120)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The `loopwatch` of a fresh virtual environment. Dependencies are lent by this one through a
    .pth file, so the test needs no network; the file names no checkout of ours."""
    home = tmp_path_factory.mktemp("elsewhere") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True, timeout=120)
    site = next(home.glob("lib/python*/site-packages"))
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--python", home / "bin" / "python", "install"]
    options = ["--no-deps", "--no-index", "--quiet", "--force-reinstall"]
    subprocess.run([*pip, *options, wheel], check=True, timeout=120, env=plain_environment())
    return home / "bin" / "loopwatch"


def outside() -> dict[str, str]:
    env = plain_environment()
    del env["PYTHONPATH"]
    return env


def test_it_holds_the_apps_templates_and_static_files_but_no_tests(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"loops", "tracker", "escalations"}
    assert "loops/shipped/templates/base.html" in names
    assert "loops/shipped/static/css/base.css" in names
    assert not [name for name in names if "test" in name.lower() or name.endswith(".pyc")]


def test_help_works_outside_a_checkout(installed, tmp_path):
    ran = subprocess.run(
        [installed, "--help"], cwd=tmp_path, env=outside(), capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert "  up " in ran.stdout
    assert not list(tmp_path.iterdir())


def test_up_serves_health_page_and_style_outside_a_checkout(installed, tmp_path, monkeypatch):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for trap in ("celery.py", "uvicorn.py", "loops.py"):  # a folder that must not lend modules
        (elsewhere / trap).write_text("raise SystemExit('the wrong module')\n")
    monkeypatch.chdir(elsewhere)
    with Up(tmp_path / "data", argv=(str(installed),), env=outside()) as up:
        address = up.wait_ready()
        for path in ("/health/", "/", "/static/css/base.css"):
            with urllib.request.urlopen(address + path, timeout=10) as answer:
                assert answer.status == 200
        for child in ("web", "worker", "clock"):
            assert os.readlink(f"/proc/{up.pid(child)}/cwd") == "/"
            command = Path(f"/proc/{up.pid(child)}/cmdline").read_text()
            assert command.startswith(str(installed.parent))
        up.process.send_signal(signal.SIGINT)
        assert up.process.wait(40) == 0, up.said()
