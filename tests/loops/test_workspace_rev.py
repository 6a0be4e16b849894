"""rev says what content the clone holds: all that counts, nothing that does not."""

import json
import os
import shutil

import pytest

from loops.workspaces import overlay, scan
from tests.loops.workspace_kit import Session, git, make_source


@pytest.fixture
def session(tmp_path):
    source = make_source(tmp_path / "source", {"a.txt": "one\n", ".gitignore": "*.log\n/out/\n"})
    session = Session(tmp_path / "data", source, leftovers=("report.xml", "build/*.tmp"))
    session.workspace.open()
    return session


def rev(session):
    return session.workspace.stamp().rev


def test_the_same_content_has_the_same_rev_whatever_happened_between(session):
    start = rev(session)
    session.write("a.txt", "two\n")
    session.write("new/file.txt")
    changed = rev(session)
    assert changed != start
    session.write("a.txt", "one\n")
    (session.clone / "new/file.txt").unlink()
    assert rev(session) == start


def test_committing_changes_head_but_not_rev(session):
    session.write("new.txt")
    before = session.workspace.stamp()
    session.commit()
    after = session.workspace.stamp()
    assert (after.rev == before.rev, after.head == before.head) == (True, False)


def test_untracked_files_count_and_ignored_ones_do_not(session):
    start = rev(session)
    session.write("x.log")
    session.write("out/deep/file")
    assert rev(session) == start
    session.write("x.txt")
    assert b"x.txt" in session.paths(rev(session))


def test_a_tracked_file_counts_though_it_is_ignored_until_it_is_untracked(session):
    session.write("kept.log", "1\n")
    session.git("add", "-f", "kept.log")
    session.git("commit", "-qm", "x")
    first = rev(session)
    assert b"kept.log" in session.paths(first)
    session.write("kept.log", "2\n")
    assert rev(session) != first
    session.git("rm", "-q", "--cached", "kept.log")
    session.git("commit", "-qm", "y")
    assert b"kept.log" not in session.paths(rev(session))


def test_a_file_that_becomes_ignored_stops_counting_and_comes_back(session):
    session.write("notes/n.txt")
    assert b"notes/n.txt" in session.paths(rev(session))
    session.write("notes/.gitignore", "*\n")
    assert not {p for p in session.paths(rev(session)) if p.startswith(b"notes/")}
    (session.clone / "notes/.gitignore").unlink()
    assert b"notes/n.txt" in session.paths(rev(session))


@pytest.mark.parametrize(
    "name",
    [
        ".loopwatch/prompt.md",
        "pkg/__pycache__/m.pyc",
        ".pytest_cache/v/x",
        ".ruff_cache/x",
        ".mypy_cache/x",
        "web/node_modules/.cache/x",
        ".hypothesis/x",
        "report.xml",
        "deep/report.xml",
        "build/one.tmp",
    ],
)
def test_caches_and_accepted_leftovers_do_not_count(session, name):
    start = rev(session)
    session.write(name)
    session.write("!keep.txt")
    kept = rev(session)
    assert session.paths(kept) - session.paths(start) == {b"!keep.txt"}
    session.git("add", "-f", "-A")
    session.commit()
    assert rev(session) == kept
    assert session.boundary(session.workspace.stamp()).uncommitted == ()


@pytest.mark.parametrize(
    "name", ["__pycache__", "src/.loopwatch/x", "build/deep/one.tmp", "myreport.xml"]
)
def test_what_only_resembles_a_cache_or_leftover_counts(session, name):
    session.write(name)
    assert name.encode() in session.paths(rev(session))


ODD = [
    b"new\nline",
    b"quo\"te's",
    b"-dash",
    b"not-utf8-\xff\xfe",
    "ünï-日本".encode(),
    b"back\\slash",
    b":(top)x",
    b"sta*r?[a]",
    b" lead and trail ",
    b"tab\there",
    b"git~1",
    b"CON",
    b"-dir\n/in side/\xff.txt",
]


def test_odd_names_count_and_come_back_byte_for_byte(session):
    before = session.workspace.stamp()
    for name in ODD:
        session.write(name, b"odd\0\r\n" + name)
    held = session.workspace.stamp()
    assert session.paths(held.rev) - session.paths(before.rev) == set(ODD)
    for name in ODD:
        (session.clone / os.fsdecode(name)).unlink()
    found = session.boundary(held, may_change=False)
    assert found.rev == held.rev
    for name in ODD:
        assert (session.clone / os.fsdecode(name)).read_bytes() == b"odd\0\r\n" + name
    assert "\\n" in "".join(found.restored)
    assert "\n" not in "".join(found.restored)
    (session.clone / "git~1").unlink()  # a name that git itself refuses to commit
    session.commit()
    assert session.boundary(session.workspace.stamp()).uncommitted == ()


def test_exec_bits_and_links_count_and_links_are_not_followed(session, tmp_path):
    start = rev(session)
    (session.clone / "a.txt").chmod(0o755)
    executable = rev(session)
    assert executable != start
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("1")
    (session.clone / "link").symlink_to(tmp_path / "outside")
    (session.clone / "dangling").symlink_to("nowhere")
    linked = rev(session)
    assert session.paths(linked) - session.paths(start) == {b"link", b"dangling"}
    (tmp_path / "outside/secret").write_text("2")
    assert rev(session) == linked
    (session.clone / "link").unlink()
    (session.clone / "link").symlink_to("elsewhere")
    assert rev(session) != linked


def test_a_file_a_link_and_a_folder_may_take_each_others_place(session):
    session.write("x", "file\n")
    one = rev(session)
    (session.clone / "x").unlink()
    session.write("x/inner", "deep\n")
    assert b"x/inner" in session.paths(rev(session))
    (session.clone / "x/inner").unlink()
    (session.clone / "x").rmdir()
    (session.clone / "x").symlink_to("a.txt")
    assert b"x" in session.paths(rev(session))
    (session.clone / "x").unlink()
    session.write("x", "file\n")
    assert rev(session) == one


def nested(session, name):
    folder = session.clone / name
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    session.write(f"{name}/code.txt", "1\n")
    session.write(f"{name}/skip.log")
    session.write(f"{name}/deep/.gitignore", "own\n")
    session.write(f"{name}/deep/own")
    session.write(f"{name}/deep/more.txt")
    return folder


def test_a_nested_repository_counts_as_plain_files_without_its_git(session):
    start = session.paths(rev(session))
    folder = nested(session, "vendor/lib")
    inside = {b"code.txt", b"deep/.gitignore", b"deep/more.txt"}
    first = rev(session)
    assert session.paths(first) - start == {b"vendor/lib/" + name for name in inside}
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "x")
    assert rev(session) == first
    session.write("vendor/lib/code.txt", "2\n")
    session.write("vendor/lib/later.txt")
    assert rev(session) != first
    assert b"vendor/lib/later.txt" in session.paths(rev(session))


def test_a_tracked_folder_that_becomes_a_repository_still_counts(session):
    session.write("part/x.txt", "1\n")
    session.commit()
    first = rev(session)
    git(session.clone / "part", "init", "-q")
    git(session.clone / "part", "add", "-A")
    git(session.clone / "part", "commit", "-qm", "x")
    assert rev(session) == first
    session.write("part/x.txt", "2\n")
    assert rev(session) != first


def test_a_nested_repository_that_the_agent_commits_as_a_link_is_not_held_against_it(session):
    nested(session, "lib")
    git(session.clone / "lib", "add", "-A")
    git(session.clone / "lib", "commit", "-qm", "x")
    session.commit()
    found = session.boundary(session.workspace.stamp())
    assert found.uncommitted == ()
    assert b"lib/code.txt" in session.paths(found.rev)


def test_large_untracked_files_count_by_size_and_time(session, monkeypatch):
    monkeypatch.setattr(scan, "LARGE_BYTES", 1000)
    path = session.write("big.bin", b"a" * 2000)
    os.utime(path, ns=(1, 1_000))
    first = session.workspace.stamp()
    assert "2000 bytes" in session.content(first.rev, "big.bin")
    path.write_bytes(b"b" * 2000)
    os.utime(path, ns=(1, 1_000))
    assert rev(session) == first.rev
    os.utime(path, ns=(1, 2_000))
    assert rev(session) != first.rev
    os.utime(path, ns=(1, 1_000))
    assert rev(session) == first.rev
    session.commit()
    assert session.content(rev(session), "big.bin") == "b" * 2000
    path.write_bytes(b"c" * 500)
    assert session.content(rev(session), "big.bin") == "c" * 500
    path.unlink()
    assert b"big.bin" not in session.paths(rev(session))


def test_line_ending_attributes_neither_hide_changes_nor_block_a_commit(tmp_path):
    source = make_source(
        tmp_path / "source", {".gitattributes": "*.bat text eol=crlf\n", "x.bat": "one\ntwo\n"}
    )
    session = Session(tmp_path / "data", source)
    session.workspace.open()
    assert (session.clone / "x.bat").read_bytes() == b"one\r\ntwo\r\n"
    before = session.workspace.stamp()
    assert session.boundary(before).uncommitted == ()
    session.write("x.bat", b"one\ntwo\n")
    after = session.workspace.stamp()
    assert after.rev != before.rev
    assert session.boundary(before, may_change=False).rev == before.rev
    assert (session.clone / "x.bat").read_bytes() == b"one\r\ntwo\r\n"
    session.write("x.bat", b"three\r\n")
    assert session.boundary(before).uncommitted == ("x.bat",)


def test_a_same_sized_change_with_a_forged_time_in_the_same_second_is_seen(session):
    path = session.write("a.txt", "aaa\n")
    os.utime(path, (1000, 1000))
    seen = {rev(session)}
    for text in ("bbb\n", "ccc\n", "ddd\n"):
        with open(path, "r+") as file:
            file.write(text)
        os.utime(path, (1000, 1000))
        seen.add(rev(session))
    assert len(seen) == 4


def test_a_broken_index_or_a_scan_cut_short_costs_time_not_truth(session):
    session.write("new.txt")
    expected = rev(session)
    scan_git = session.clone.parent / "engine/scan.git"
    (scan_git / "index").write_bytes(b"junk")
    assert rev(session) == expected
    (scan_git / "unfinished").touch()
    assert rev(session) == expected
    (session.clone.parent / "engine/state.json").write_text("{")
    assert rev(session) == expected


def test_two_engine_processes_see_the_same_tree(session, tmp_path):
    session.write("one.txt")
    first = rev(session)
    other = Session(tmp_path / "data", tmp_path / "source", leftovers=("report.xml", "build/*.tmp"))
    session.write("two.txt")
    second = rev(other)
    assert second != first
    (session.clone / "two.txt").unlink()
    assert rev(session) == first


def test_modes_that_forbid_reading_hide_nothing(session):
    session.write("shut/hidden.txt")
    path = session.write("unreadable.txt")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    (session.clone / "shut").chmod(0)
    assert {b"shut/hidden.txt", b"unreadable.txt"} <= session.paths(rev(session))
    (session.clone / "shut").chmod(0)
    held = session.workspace.stamp()
    session.write("shut/hidden.txt", "changed\n")
    (session.clone / "shut").chmod(0)
    assert session.boundary(held).changed_paths == ("shut/hidden.txt",)


def indexed(session):
    """The tree that the engine's index holds."""
    state = json.loads((session.clone.parent / "engine/state.json").read_text())
    return state["memory"]["indexed"]


def fresh(session):
    """The rev of the same files as somebody sees them who remembers nothing."""
    (session.clone.parent / "engine/state.json").unlink()
    shutil.rmtree(session.clone.parent / "engine/scan.git")
    return rev(session)


def test_few_changes_cost_no_new_index_and_give_the_same_tree_as_a_full_hashing(session):
    for name in ("p/q/r.txt", "p/q.txt", "p-q", "p.txt", "gone/deep/file", "turns/into/file"):
        session.write(name, name)
    session.commit()
    rev(session)
    before = indexed(session)
    session.write("p/q/r.txt", "changed")
    session.write("p/new/deep/x", b"\xff\0")
    session.write("p/q/tool").chmod(0o755)
    (session.clone / "p/q/link").symlink_to("tool")
    shutil.rmtree(session.clone / "gone")
    shutil.rmtree(session.clone / "turns")
    session.write("turns", "a file now")
    (session.clone / "p.txt").unlink()
    session.write("p.txt/inside", "a folder now")
    seen = rev(session)
    git(session.store, "fsck", "--strict", seen)
    assert b"p.txt/inside" in session.paths(seen)
    assert indexed(session) == before
    assert fresh(session) == seen


def test_what_was_seen_over_an_old_index_is_seen_to_change_and_to_go_again(session):
    start = rev(session)
    session.write("a.txt", "two\n")
    session.write("x.txt")
    first = rev(session)
    assert rev(session) == first
    path = session.write("a.txt", "TWO\n")
    os.utime(path, (1000, 1000))
    assert rev(session) not in (start, first)
    session.write("a.txt", "one\n")
    session.write(".gitignore", "*.log\n/out/\nx.txt\n")
    assert session.paths(rev(session)) == {b"a.txt", b".gitignore"}
    session.write(".gitignore", "*.log\n/out/\n")
    (session.clone / "x.txt").unlink()
    assert rev(session) == start


def test_many_changes_bring_the_index_up(session):
    rev(session)
    before = indexed(session)
    for number in range(overlay.MOST_FILES + 1):
        session.write(f"many/{number}")
    seen = rev(session)
    assert before != indexed(session) == seen
    session.write("many/0", "again\n")
    assert fresh(session) == rev(session) != seen
