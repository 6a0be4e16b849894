"""Composition of every app's pages."""

from django.urls import include, path
from django.views.generic import RedirectView

from loops import addresses  # noqa: F401  (registers <id:...>)
from loops.health import engine, health
from loops.reading import links
from loops.views import (
    agents,
    compare,
    deliver,
    forking,
    history,
    login,
    new_session,
    output,
    session_templates,
    settings,
    steering,
    welcome,
)

handler404 = "loops.refusals.no_page"
handler400 = "loops.refusals.no_sense"

urlpatterns = [
    path("health/", health, name="health"),
    path("health/engine/", engine, name="engine_age"),
    path("login/", login.no_link, name="login"),
    path("login/<str:token>/", login.link, name="login_link"),
    path("sessions/<int:session_id>/iterations/<int:number>/output/", output.output),
    path("logout/", login.log_out, name="logout"),
    path("account/", login.account, name="account"),
    path("demo/", agents.start_demo, name="demo"),
    path("welcome/", welcome.welcome, name="welcome"),
    path("welcome/parts/<str:names>/", welcome.part, name="welcome_part"),
    path("welcome/try/<slug:name>/", welcome.try_agent, name="try_found"),
    path("welcome/repository/", welcome.repository, name="first_repository"),
    path("welcome/start/", welcome.start, name="first_session"),
    path("agents/new/", agents.new_agent, name="new_agent"),
    path("settings/", RedirectView.as_view(url=links.AGENTS)),
    path("settings/agents/", settings.agents, name="agents"),
    path("settings/agents/<slug:name>/", agents.agent, name="agent"),
    path("settings/agents/<slug:name>/try/", agents.try_agent, name="try_agent"),
    path("settings/agents/<slug:name>/remove/", agents.remove, name="remove_agent"),
    path("settings/parts/<str:names>/", settings.part, name="settings_part"),
    path("settings/look/", settings.look, name="look_for_programs"),
    path("settings/roles/", settings.propose, name="propose"),
    path("settings/prices/", settings.prices, name="prices"),
    path("settings/prices/take/", settings.take_prices, name="take_prices"),
    path("settings/secrets/", settings.secret, name="new_secret"),
    path("settings/secrets/<slug:name>/", settings.secret, name="secret"),
    path("settings/secrets/<slug:name>/remove/", settings.remove_secret, name="remove_secret"),
    path("sessions/new/", new_session.new_session, name="new_session"),
    path("sessions/new/preview/", new_session.preview, name="preview_session"),
    path("sessions/compare/", compare.compare, name="compare"),
    path("sessions/<id:session>/history/", history.history, name="history"),
    path("sessions/<id:session>/replay/", history.replay, name="replay"),
    path("sessions/<id:session>/export/", history.export, name="export"),
    path("sessions/<id:session>/fork/", forking.fork, name="fork"),
    path("sessions/<id:session>/fork/before/", forking.before, name="fork_before"),
    path("sessions/new/dry-run/", new_session.dry_run, name="dry_run"),
    path("sessions/templates/", new_session.save_template, name="save_template"),
    path(
        "sessions/templates/<id:template>/delete/",
        session_templates.delete,
        name="delete_template",
    ),
    path("sessions/<id:session>/stop/", steering.stop, name="stop"),
    path("sessions/<id:session>/deliver/push/", deliver.push, name="push"),
    path("sessions/<id:session>/deliver/pull-request/", deliver.request, name="pull_request"),
    path("sessions/<id:session>/deliver/patch/", deliver.patch, name="patch"),
    path("sessions/<id:session>/move/", steering.move, name="move"),
    *(
        path(f"sessions/<id:session>/{verb}/", steering.steer, {"verb": verb}, name=verb)
        for verb in steering.VERBS
    ),
    path("", include("loops.views.project_urls")),
    path("", include("escalations.urls")),
]
