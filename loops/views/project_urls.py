"""Pages of one project: its tracker and its spec; and making one."""

from django.urls import path

from loops.views import projects, specs, tracker

_TRACKER = "p/<slug:project>/tracker/"
_SPECS = "p/<slug:project>/specs/"

urlpatterns = [
    path("projects/new/", projects.new_project, name="new_project"),
    path(_TRACKER, tracker.board, name="tracker"),
    path(_TRACKER + "file/", tracker.file, name="file"),
    path(_TRACKER + "parts/<str:name>/", tracker.board_part),
    path(_TRACKER + "<slug:key>/", tracker.entry, name="entry"),
    path(_TRACKER + "<slug:key>/parts/<str:name>/", tracker.entry_fragment),
    path(_TRACKER + "<slug:key>/<slug:slug>/", tracker.move, name="move"),
    path(_SPECS, specs.index, name="specs"),
    path(_SPECS + "parts/<str:name>/", specs.list_part),
    path(_SPECS + "<slug:key>/parts/<str:name>/", specs.list_part),
    path(_SPECS + "<slug:key>/", specs.requirement, name="requirement"),
    path(_SPECS + "<slug:key>/preview/", specs.preview),
    path(_SPECS + "<slug:key>/restore/", specs.restore),
    path(_SPECS + "<slug:key>/remove/", specs.remove),
]
