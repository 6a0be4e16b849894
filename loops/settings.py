"""Settings: everything a deployment may change comes from the environment (loops.environment)."""

from pathlib import Path

from csp.constants import NONE, SELF
from kombu import Queue

from loops import broker, environment

_PACKAGE = Path(__file__).resolve().parent
_SHIPPED = _PACKAGE / "shipped"  # where the wheel keeps what a checkout has at its top level
_TOP = _SHIPPED if _SHIPPED.is_dir() else _PACKAGE.parent

DATA = environment.data_folder()
SECRET_KEY = environment.key(DATA, "django")
SECRETS_KEY = environment.key(DATA, "secrets")  # Fernet: encrypts agents' credentials, nothing else
HOST = environment.host_name()
STORE_URL = environment.store_url()  # "": snapshots stay on this host
# Minutes after which a session of a dead host goes on elsewhere by itself; 0: a person moves it.
MOVE_AFTER = environment.whole_number("LOOPWATCH_MOVE_AFTER", 0, least=0, most=100_000)
SLOTS = environment.whole_number("LOOPWATCH_SLOTS", 2, most=64)
LEASE_SECONDS = environment.whole_number("LOOPWATCH_LEASE_SECONDS", 15, least=3, most=3600)
LOG_FILE = DATA / "logs" / "loopwatch.log"

DEBUG = False
PUBLIC_URL = environment.public_url()
HAS_TLS = PUBLIC_URL.startswith("https://")
ALLOWED_HOSTS = environment.names("LOOPWATCH_ALLOWED_HOSTS", ("127.0.0.1", "localhost", "[::1]"))
if PUBLIC_URL:
    ALLOWED_HOSTS.append(environment.host_of(PUBLIC_URL))
    # Behind a proxy that ends TLS the page's origin is https, and what we see is http.
    CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
    "tracker",
    "loops",
    "escalations",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    # Nobody sees anything without signing in, unless a view says @login_not_required.
    "tracker.access.SignedInOnly",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "loops.refusals.RefusalMiddleware",
]
ROOT_URLCONF = "loops.urls"
ASGI_APPLICATION = "loops.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [_TOP / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "escalations.frame.frame",
            ]
        },
    }
]
STATIC_URL = "/static/"
STATICFILES_DIRS = [_TOP / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",  # htmx, from django_htmx
]

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
SESSION_COOKIE_NAME = "loopwatch_session"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HAS_TLS
CSRF_FAILURE_VIEW = "loops.refusals.forged"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
# No inline script, style or handler anywhere; 'self' covers the page's own WebSocket too.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "font-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# A requirement may have megabytes, and a form sends every byte of it as up to three.
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 * 1024 * 1024

# No ATOMIC_REQUESTS: transactions are as short as the service that needs them.
DATABASES = {"default": environment.database(DATA)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"

LOGGING_CONFIG = "loops.logging.configure"
LOGGING = {"file": LOG_FILE}

REDIS_URL = environment.broker_url(broker.url(DATA))
CELERY_BROKER_URL = broker.celery_url(REDIS_URL)
# Redis gives an unacknowledged message out again after visibility_timeout: two days, and early
# acknowledgement, because only the lease in the database may start a step again.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 2 * 24 * 3600,
    "socket_timeout": 10,
    "socket_connect_timeout": 3,
    "retry_on_timeout": False,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_IGNORE_RESULT = True
# Who enqueues has committed already and the clock enqueues again: give up within a second.
CELERY_TASK_PUBLISH_RETRY_POLICY = {
    "max_retries": 2,
    "interval_start": 0,
    "interval_step": 0.2,
    "interval_max": 0.4,
}
# A session that has a clone on a host is woken through that host's own queue (loops.wake).
CELERY_TASK_QUEUES = (Queue("iterations"), Queue(f"iterations.{HOST}"), Queue("pages"))
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_TASK_DEFAULT_QUEUE = "iterations"
CELERY_TASK_ROUTES = {"escalations.tasks.*": {"queue": "pages"}}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_PROC_ALIVE_TIMEOUT = 30.0
# SIGQUIT (see loops.supervisor): running iterations get this long to end by themselves.
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 20.0
