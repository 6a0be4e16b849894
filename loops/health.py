"""GET /health/: does the engine live? For people, monitors and `up`; holds no secrets."""

from __future__ import annotations

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from loops import hosts

ENGINE_LATE_SECONDS = 10.0


@login_not_required
@never_cache
@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """{"status": "ok"|"degraded", "database": "ok"|"unreachable", "broker": "ok"|"unreachable",
    "engine_age_seconds": since this host's clock beat, or null}; 200, or 503 if degraded."""
    age = hosts.age_seconds(settings.HOST)
    database, broker = _database_answers(), _broker_answers()
    is_well = database and broker and age is not None and age <= ENGINE_LATE_SECONDS
    words = {True: "ok", False: "unreachable"}
    return JsonResponse(
        {
            "status": "ok" if is_well else "degraded",
            "database": words[database],
            "broker": words[broker],
            "engine_age_seconds": None if age is None else round(age, 1),
        },
        status=200 if is_well else 503,
    )


@never_cache
@require_safe
def engine(request: HttpRequest) -> JsonResponse:
    """{"seconds": since the clock's last beat, or null}: what pages show, asked by plain HTTP."""
    age = hosts.age_seconds()
    return JsonResponse({"seconds": None if age is None else round(age, 1)})


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _broker_answers() -> bool:
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()
