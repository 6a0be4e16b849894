"""Composition of every app's pages."""

from django.urls import include, path
from django.views.generic import TemplateView

from loops.health import health
from loops.views import login

urlpatterns = [
    path("", TemplateView.as_view(template_name="loops/home.html"), name="home"),
    path("health/", health, name="health"),
    path("login/", login.no_link, name="login"),
    path("login/<str:token>/", login.link, name="login_link"),
    path("logout/", login.log_out, name="logout"),
    path("account/", login.account, name="account"),
    path("", include("loops.views.project_urls")),
]
