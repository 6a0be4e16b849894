"""The Celery application. `loops.apps` loads it, so that every Django process sends to our broker.

Celery carries wake-ups and work, never truth (DESIGN 3): losing all of it loses seconds.
"""

from celery import Celery
from celery.signals import worker_process_init

from loops.supervisor import die_with_parent

app = Celery("loops")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_process_init.connect
def _pool_process_dies_with_worker(**_: object) -> None:
    # Celery's pool processes outlive a kill -9 of their parent for as long as a task runs.
    die_with_parent()
