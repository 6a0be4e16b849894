"""Pages that join sessions with the questions they ask."""

from django.urls import path

from escalations.views import edit, index, queue, session

_SESSION = "sessions/<id:session>/"
_ITERATION = f"{_SESSION}iterations/<id:number>/"

urlpatterns = [
    path("", index.index, name="home"),
    path("parts/index/", index.index_part, name="index_part"),
    path(_SESSION, session.session, name="session"),
    path(f"{_SESSION}parts/<str:name>/", session.part, name="session_part"),
    path(_ITERATION, session.iteration, name="iteration"),
    path(f"{_ITERATION}parts/<str:name>/", session.part, name="iteration_part"),
    path(f"{_ITERATION}raw/", session.raw, name="raw_output"),
    path("queue/", queue.listing, name="queue"),
    path("queue/parts/queue/", queue.queue_only, name="queue_part"),
    path("queue/<id:current>/parts/queue/", queue.queue_only, name="question_queue_part"),
    path("queue/<id:escalation>/", queue.detail, name="question"),
    path("queue/<id:escalation>/decide/", queue.decide, name="decide"),
    path("queue/<id:escalation>/edit/", edit.edit, name="edit"),
]
