"""What a worker process does when it is woken."""

from celery import shared_task

from loops import runner, stage, trying, wake


@shared_task(name="loops.tasks.run_session", queue="iterations")
def run_session(session_id: int) -> None:
    wake.woken(session_id)
    more = runner.take_turn(stage.equip)
    if more is not None:
        wake.wake(more)
    wake.forward(session_id)


@shared_task(name="loops.tasks.try_agent", queue="iterations")
def try_agent(name: str) -> None:
    trying.carry_out(name)


@shared_task(name="loops.tasks.look_for_programs", queue="iterations")
def look_for_programs() -> None:
    trying.look()
