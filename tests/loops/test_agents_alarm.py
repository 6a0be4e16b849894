"""One thread makes the calls that nobody took back."""

import os
import threading
import time

from loops.agents.alarm import Alarm
from tests.loops.agent_programs.kit import wait_until

SOON = 0.05


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "alarm"]


def test_what_is_not_taken_back_is_called_once_and_what_is_taken_back_never():
    alarm, called = Alarm(SOON), []
    alarm.set("kept", lambda: called.append("kept"))
    alarm.set("taken back", lambda: called.append("taken back"))
    alarm.unset("taken back")
    alarm.unset("never set")
    wait_until(lambda: called)
    time.sleep(3 * SOON)
    assert called == ["kept"]


def test_one_thread_serves_many_and_ends_when_nothing_is_set_any_more():
    wait_until(lambda: not threads())
    alarm, called = Alarm(SOON), []
    for n in range(1000):
        alarm.set(n, lambda: called.append(1))
        alarm.unset(n)
    assert len(threads()) == 1
    wait_until(lambda: not threads())
    alarm.set("again", lambda: called.append(2))
    wait_until(lambda: called)
    assert called == [2]


def test_a_call_that_fails_costs_the_others_nothing():
    alarm, called = Alarm(SOON), []
    alarm.set("bad", lambda: 1 / 0)
    alarm.set("good", lambda: called.append(1))
    wait_until(lambda: called)
    alarm.set("later", lambda: called.append(2))
    wait_until(lambda: called == [1, 2])


def test_a_forked_child_has_a_thread_of_its_own_and_none_of_its_parents_calls():
    read, write = os.pipe()
    alarm, called = Alarm(4 * SOON), []
    alarm.set("the parent's", lambda: called.append(os.write(write, b"p")))
    child = os.fork()
    if child == 0:
        alarm.set("the child's", lambda: os.write(write, b"c"))
        time.sleep(12 * SOON)
        os._exit(0)
    os.waitpid(child, 0)
    wait_until(lambda: called)
    said = os.read(read, 10)
    os.close(read)
    os.close(write)
    assert sorted(said) == sorted(b"cp")
