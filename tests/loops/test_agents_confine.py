"""The confinement is decided once, by a real run, and holds for any program put into it."""

import subprocess
from pathlib import Path

import pytest

from loops.agents import confine as module
from loops.agents.confine import SETTING, Confinement, confine, confinement
from tests.loops.agent_programs.kit import require
from tracker.errors import Invalid


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    monkeypatch.delenv(SETTING, raising=False)


def test_the_probe_runs_once_per_process():
    runs = []

    def probe():
        runs.append(1)
        return ""

    assert [confinement(probe) for _ in range(3)] == [Confinement.BUBBLEWRAP] * 3
    assert len(runs) == 1


def test_where_the_probe_fails_the_shim_holds_the_tree():
    assert confinement(lambda: "no user namespaces") is Confinement.SHIM


def test_the_setting_wins_over_the_probe(monkeypatch):
    monkeypatch.setenv(SETTING, "shim")
    assert confinement(lambda: "") == "shim"


def test_demanding_bubblewrap_where_it_fails_is_an_error_that_says_why(monkeypatch):
    monkeypatch.setenv(SETTING, "bubblewrap")
    assert confinement(lambda: "") == "bubblewrap"
    with pytest.raises(Invalid, match="no user namespaces"):
        confinement(lambda: "no user namespaces")


def test_an_unknown_setting_is_refused(monkeypatch):
    monkeypatch.setenv(SETTING, "docker")
    with pytest.raises(Invalid, match="docker"):
        confinement(lambda: "")


def test_the_probe_fails_where_a_part_of_the_profile_does_not_hold(monkeypatch):
    require(Confinement.BUBBLEWRAP)
    real = module.confine

    def leaky(argv, **options):
        return real(argv, **{**options, "hidden": []})

    monkeypatch.setattr(module, "confine", leaky)
    assert module.probe_bubblewrap() == "the profile does not hold"


def test_without_a_sandbox_the_command_comes_back_as_it_is(tmp_path):
    argv = ["git", "log"]
    assert confine(argv, cwd=tmp_path, hidden=[tmp_path], mode=Confinement.SHIM) == argv


def sandboxed(command, folder, **options):
    require(Confinement.BUBBLEWRAP)
    argv = confine(["/bin/sh", "-c", command], cwd=folder, mode=Confinement.BUBBLEWRAP, **options)
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return done.stdout + done.stderr


def test_the_deeper_path_wins_over_the_folder_around_it(tmp_path):
    inner = tmp_path / "hidden/writable/read-only/hidden"
    inner.mkdir(parents=True)
    for folder in [inner, *list(inner.parents)[:3]]:
        (folder / "file").touch()
    base = tmp_path / "hidden"
    listing = sandboxed(
        "find . | sort; touch writable/new; touch writable/read-only/new 2>/dev/null || echo no",
        base,
        hidden=[inner, base],
        writable=[base / "writable"],
        readable=[base / "writable/read-only"],
    )
    assert listing.split() == [
        ".",
        "./writable",
        "./writable/file",
        "./writable/read-only",
        "./writable/read-only/file",
        "./writable/read-only/hidden",
        "no",
    ]
    assert (base / "writable/new").exists()


def test_a_hidden_file_is_empty_and_a_link_to_a_hidden_folder_leads_to_nothing(tmp_path):
    (tmp_path / "key").write_text("secret")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/db").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "data")
    shown = sandboxed(
        "cat key; ls link/ data/",
        tmp_path,
        writable=[tmp_path],
        hidden=[tmp_path / "key", tmp_path / "link"],
    )
    assert "secret" not in shown
    assert "db" not in shown


def test_not_even_root_can_lift_the_confinement():
    command = "mount -o remount,rw / 2>/dev/null || echo held; grep CapEff /proc/self/status"
    assert sandboxed(command, Path("/")).split() == ["held", "CapEff:", "0" * 16]


def test_processes_outside_are_out_of_sight():
    assert int(sandboxed("ls -d /proc/[0-9]* | wc -l", Path("/"))) < 10


def test_git_runs_confined_on_a_clone_inside_the_hidden_data_folder(tmp_path):
    require(Confinement.BUBBLEWRAP)
    clone = tmp_path / "data/clone"
    subprocess.run(["git", "init", "-q", clone], check=True)
    (tmp_path / "data/db").write_text("secret")
    hook = clone / ".git/spy"
    hook.write_text("#!/bin/sh\ncat ../db > seen 2>/dev/null; echo ran >> spied\n")
    hook.chmod(0o755)
    subprocess.run(["git", "-C", clone, "config", "core.fsmonitor", str(hook)], check=True)
    argv = confine(
        ["git", "status", "--porcelain"],
        cwd=clone,
        writable=[clone],
        hidden=[tmp_path / "data"],
        network=False,
        mode=Confinement.BUBBLEWRAP,
    )
    done = subprocess.run(
        argv, env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}, capture_output=True
    )
    assert done.returncode == 0
    assert (clone / "spied").exists(), "the attack of this test ran"
    assert Path(clone / "seen").read_text() == ""
