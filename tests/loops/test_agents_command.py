"""A command agent gets its prompt and exactly its environment, and fails with a sentence."""

import hashlib
import os
import socket
import stat
import threading

import pytest

from loops.agents.command import CommandAgent
from loops.agents.confine import Confinement
from loops.engine.values import Fault
from tests.loops.agent_programs.kit import (
    Recorder,
    agent,
    both_modes,
    make_call,
    require,
)
from tracker.errors import Invalid


def run(subject, call):
    control = Recorder()
    return subject.run(call, control), control.text


@both_modes
@pytest.mark.parametrize("prompt", ["stdin", "file"])
def test_O13_a_prompt_of_1_MiB_arrives_whole(mode, prompt, tmp_path):
    text = "Anforderung: größer\n" * 50_000
    assert len(text.encode()) > 1024 * 1024
    code = """
        import _sha256, sys
        file = open(sys.argv[1], "rb") if sys.argv[1:] else sys.stdin.buffer
        print(_sha256.sha256(file.read()).hexdigest(), end="")
    """
    arguments = ["{prompt_file}"] if prompt == "file" else []
    call = make_call(tmp_path, prompt=text)
    reply, output = run(agent(mode, code, *arguments, prompt=prompt), call)
    assert reply.fault is None
    assert output == hashlib.sha256(text.encode()).hexdigest()
    assert not list(call.places.tmp.glob("prompt*"))


@both_modes
def test_O16_an_agent_that_asks_on_its_terminal_finds_none_and_gets_an_end_of_file(mode, tmp_path):
    code = """
        import os, stat, sys
        sys.stdin.read()
        try:
            input("May I? ")
        except EOFError:
            print("no answer")
        try:
            open("/dev/tty")
        except OSError:
            print("no terminal")
        print(stat.S_ISREG(os.fstat(0).st_mode), any(map(os.isatty, range(3))))
    """
    reply, output = run(agent(mode, code), make_call(tmp_path))
    assert reply.fault is None
    assert output == "May I? no answer\nno terminal\nTrue False\n"


@both_modes
def test_the_environment_is_exactly_the_allow_list(mode, tmp_path, monkeypatch):
    monkeypatch.setenv("OF_THE_WORKER", "must not leak")
    call = make_call(
        tmp_path,
        env={"PATH": "/usr/bin:/bin", "MODEL": "m-1", "RUN_MARK": "forged"},
        secrets={"API_KEY": "not-in-argv"},
    )
    code = "import os\nfor item in sorted(os.environ.items()): print(*item, sep='=')"
    reply, output = run(agent(mode, code), call)
    home = call.places.home
    assert reply.fault is None
    assert dict(line.split("=", 1) for line in output.splitlines()) == {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "TMPDIR": str(call.places.tmp),
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_STATE_HOME": f"{home}/.local/state",
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        "MODEL": "m-1",
        "API_KEY": "not-in-argv",
        "RUN_MARK": call.mark,
        "LOOPWATCH_SOCKET": str(call.socket),
        "LOOPWATCH_TOKEN": call.token,
    }


@both_modes
def test_the_agent_inherits_no_open_file_and_no_ignored_signal(mode, tmp_path):
    require(mode)
    subject = CommandAgent(
        argv=("/bin/sh", "-c", "ls /proc/self/fd | wc -l; grep -h Sig[BI] /proc/self/status"),
        mode=mode,
    )
    reply, output = run(subject, make_call(tmp_path))
    assert reply.fault is None
    # Three, and the one with which ls reads the folder.
    assert output.split() == ["4", "SigBlk:", "0" * 16, "SigIgn:", "0" * 16]


@both_modes
def test_the_template_is_filled_in_and_other_braces_stay(mode, tmp_path):
    code = "import sys; print(*sys.argv[1:], sep='|', end='')"
    call = make_call(tmp_path)
    subject = agent(mode, code, "{session}/{iteration}", "{role}", "{workdir}", '{"a": {}}')
    reply, output = run(subject, call)
    assert reply.fault is None
    assert output == f'3/7|worker|{call.places.workdir}|{{"a": {{}}}}'


@both_modes
@pytest.mark.parametrize(
    ("code", "exit_code", "words"),
    [
        ("import sys; sys.exit('no key configured')", 1, "exit code 1: no key configured"),
        ("import os; os.kill(os.getpid(), 9)", -9, "signal 9"),
    ],
)
def test_another_exit_code_than_0_or_a_signal_is_a_crash(mode, code, exit_code, words, tmp_path):
    reply, _ = run(agent(mode, code), make_call(tmp_path))
    assert (reply.fault, reply.exit_code) == (Fault.CRASH, exit_code)
    assert words in reply.detail


@both_modes
def test_a_program_that_is_missing_or_cannot_be_executed_is_named_in_a_sentence(mode, tmp_path):
    require(mode)
    call = make_call(tmp_path)
    broken = call.places.clone / "broken"
    broken.write_bytes(b"\x7fELF nonsense")
    broken.chmod(0o755)
    (call.places.clone / "text").write_text("not executable")
    for name, words in {
        "no-such-program": '"no-such-program" is not there or not executable',
        "./text": '"./text" is not there or not executable',
        "./broken": "Exec format error",
    }.items():
        reply, _ = run(CommandAgent(argv=(name,), mode=mode), call)
        assert reply.fault is Fault.CANNOT_START
        assert words in reply.detail
        assert reply.detail.endswith(".")


@both_modes
def test_a_missing_workdir_cannot_start(mode, tmp_path):
    call = make_call(tmp_path)
    call.places.clone.rmdir()
    reply, _ = run(agent(mode, "print()"), call)
    assert reply.fault is Fault.CANNOT_START
    assert "clone" in reply.detail


def test_O15_a_secret_in_the_command_is_refused_without_repeating_it(tmp_path):
    call = make_call(tmp_path, secrets={"API_KEY": "hunter22"})
    reply, output = run(CommandAgent(argv=("echo", "--key=hunter22")), call)
    assert reply.fault is Fault.CANNOT_START
    assert "API_KEY" in reply.detail
    assert "hunter22" not in reply.detail + output


@both_modes
def test_O15_sentences_and_survivors_hold_no_secret(mode, tmp_path):
    code = """
        import os, subprocess, sys
        key = os.environ["API_KEY"]
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", key])
        sys.exit("bad key " + key)
    """
    call = make_call(tmp_path, secrets={"API_KEY": "hunter22"})
    reply, _ = run(agent(mode, code), call)
    assert reply.detail == "The agent ended with exit code 1: bad key [secret removed]"
    assert len(reply.survivors) == 1
    assert reply.survivors[0].endswith("time.sleep(600) [secret removed]")


def test_a_template_that_cannot_deliver_its_prompt_is_refused():
    for argv, prompt in [((), "stdin"), (("cat",), "file"), (("cat", "{prompt_file}"), "stdin")]:
        with pytest.raises(Invalid):
            CommandAgent(argv=argv, prompt=prompt)


# --- inside the sandbox --------------------------------------------------------------------------


def test_in_the_sandbox_the_data_folder_is_hidden_and_only_the_agents_places_are_writable(tmp_path):
    code = """
        import os, sys
        data, outside = sys.argv[1:]
        print(sorted(os.listdir(data)), sorted(os.listdir(data + "/session")))
        places = [".", os.environ["HOME"], os.environ["TMPDIR"], "/tmp", "/dev/shm"]
        for path in [*places, data, data + "/session/socket", outside, "/etc"]:
            try:
                open(path + "/written", "w").write("x")
                print("yes", end=" ")
            except OSError:
                print("no", end=" ")
    """
    call = make_call(tmp_path)
    data = tmp_path / "data"
    (data / "db.sqlite3").write_text("secret")
    (data / "session/other").mkdir()
    subject = agent(Confinement.BUBBLEWRAP, code, str(data), os.getcwd())
    reply, output = run(subject, call)
    assert reply.fault is None
    listing, rights = output.split("\n")
    assert listing == "['session'] ['clone', 'home', 'socket', 'tmp']"
    assert rights.split() == ["yes"] * 5 + ["no"] * 4
    assert (call.places.clone / "written").read_text() == "x"
    assert (call.places.tmp / "written").exists(), "/tmp is the call's own"
    assert sorted(path.name for path in data.iterdir()) == ["db.sqlite3", "session"]


def test_in_the_sandbox_a_program_inside_a_hidden_folder_runs_and_its_folder_stays_hidden(tmp_path):
    require(Confinement.BUBBLEWRAP)
    call = make_call(tmp_path)
    program = tmp_path / "data/tools/agent"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nls " + str(program.parent))
    program.chmod(0o755)
    (program.parent / "other").touch()
    reply, output = run(CommandAgent(argv=(str(program),), mode=Confinement.BUBBLEWRAP), call)
    assert reply.fault is None
    assert output == "agent\n"


@both_modes
def test_the_socket_still_answers_after_its_server_was_restarted(mode, tmp_path):
    code = """
        import os, socket, time
        for name in ("first", "second"):
            while True:
                try:
                    with socket.socket(socket.AF_UNIX) as client:
                        client.connect(os.environ["LOOPWATCH_SOCKET"])
                        if client.recv(9).decode() == name:
                            break
                except OSError:
                    pass
                time.sleep(0.01)
            print(name, flush=True)
    """
    subject = agent(mode, code)
    call = make_call(tmp_path, wall_seconds=30)

    def serve_twice():
        for name in (b"first", b"second"):
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(str(call.socket))
                server.listen()
                with server.accept()[0] as client:
                    client.sendall(name)
            call.socket.unlink()

    threading.Thread(target=serve_twice, daemon=True).start()
    reply, output = run(subject, call)
    assert reply.fault is None
    assert output == "first\nsecond\n"


@pytest.mark.parametrize("network", [True, False])
def test_without_network_not_even_the_loopback_answers(network, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"""
            import socket
            try:
                socket.create_connection(("127.0.0.1", {server.getsockname()[1]}), 5)
                print("connected")
            except OSError:
                print("no network")
        """
        subject = agent(Confinement.BUBBLEWRAP, code, network=network)
        _, output = run(subject, make_call(tmp_path))
    assert output == ("connected\n" if network else "no network\n")


def test_a_prompt_file_is_for_the_agent_alone(tmp_path):
    code = "import os, sys; print(oct(os.stat(sys.argv[1]).st_mode))"
    subject = agent(Confinement.SHIM, code, "{prompt_file}", prompt="file")
    _, output = run(subject, make_call(tmp_path))
    assert stat.S_IMODE(int(output, 8)) == 0o600
