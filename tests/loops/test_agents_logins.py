"""A person's sign-in is lent to an agent and comes back renewed, and nothing else does."""

import json
import os

import pytest

from loops.agents.cli.logins import Logins

NAME = ".tool/auth.json"
OLD = {"access": "token-that-is-old-0001", "account": {"refresh": "refresh-that-is-old-01"}, "n": 1}
NEW = OLD | {"access": "token-that-is-new-0002"}


@pytest.fixture
def person(tmp_path):
    folder = tmp_path / "person"
    write(folder / NAME, OLD)
    return folder


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


def lend(person):
    return Logins(person=person, names=[NAME, ".tool/none.json"], lock=person.parent / "lock")


def kept(person):
    return json.loads((person / NAME).read_text())


def test_it_is_there_for_the_call_and_readable_by_its_owner_only(person, home):
    with lend(person).lent(home):
        assert json.loads((home / NAME).read_text()) == OLD
        assert os.stat(home / NAME).st_mode & 0o077 == 0
        assert not (home / ".tool/none.json").exists()
    assert kept(person) == OLD


def test_what_the_cli_renewed_comes_back(person, home):
    with lend(person).lent(home):
        write(home / NAME, NEW)
    assert kept(person) == NEW


def test_what_the_person_changed_meanwhile_stays(person, home):
    with lend(person).lent(home):
        write(home / NAME, NEW)
        write(person / NAME, OLD | {"access": "token-of-a-new-login-3"})
    assert kept(person)["access"] == "token-of-a-new-login-3"


@pytest.mark.parametrize("bad", ["", "not json", "[]", '{"access": "other form"}'])
def test_what_is_no_sign_in_of_the_same_form_does_not_come_back(person, home, bad):
    with lend(person).lent(home):
        write(home / NAME, bad)
    assert kept(person) == OLD


def test_a_link_put_in_its_place_is_not_read(person, home, tmp_path):
    write(tmp_path / "elsewhere", NEW)
    with lend(person).lent(home):
        (home / NAME).unlink()
        (home / NAME).symlink_to(tmp_path / "elsewhere")
    assert kept(person) == OLD


def test_its_tokens_are_among_what_no_output_may_show(person):
    assert lend(person).values() == (OLD["access"], OLD["account"]["refresh"])
