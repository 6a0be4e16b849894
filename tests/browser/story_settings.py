"""Settings and the first run, told as the values that the pages show."""

from __future__ import annotations

from decimal import Decimal

from loops.agent_forms import AgentForm, initial_of
from loops.pages import settings as s
from loops.pages import welcome as w
from loops.reading.agent import CRUMBS
from loops.settings_forms import PricesForm, RolesForm, SecretForm
from loops.welcome_forms import GoalForm, RepositoryForm
from tracker.pages.atoms import CheckLine, Chip, met

HOST = s.Confined(
    Chip("ok", "shield", "Confined by the system"),
    "Runs inside a sandbox of the operating system: it writes in its session’s clone and its own home only, other projects are hidden, the network is open.",
)
NOTHING = s.Confined(
    Chip("warn", "warn", "Not confined"),
    "This agent could act as you: no sandbox hides your files or the data folder from it on this machine. Install bubblewrap, or run only agents that you trust.",
)
ANSWERS = s.Tried(
    chip=Chip("ok", "ok", "Answers"), sub="1.4 s · 06:36",
    sentence="One short question, 212 tokens, below $0.01.", lines=("ready",),
)  # fmt: skip
NO_LOGIN = s.Tried(
    chip=Chip("bad", "fail", "No login"), sub="exit 41 · 06:00", has_failed=True,
    sentence="gemini: Invalid auth method selected.", lines=("! Invalid auth method selected.",),
)  # fmt: skip


def _rows() -> tuple[s.AgentRow, ...]:
    def row(name: str, version: str, used: str, tried: s.Tried, **more: object) -> s.AgentRow:
        return s.AgentRow(
            name=name, href=f"/settings/agents/{name}/", version=version, used=used, tried=tried,
            post=f"/settings/agents/{name}/try/", **{"confined": HOST, **more},
        )  # fmt: skip

    trying = s.Tried(
        chip=Chip("run", "run", "Being tried", spins=True), sub="up to a minute", is_under_way=True
    )
    return (
        row("claude", "Claude Code 2.1.332, in range · claude-opus-4-8", "Worker and Coach in S-41", ANSWERS),
        row("codex", "Codex 0.171.0, in range · gpt-5.5", "Reviewer in S-41", trying),
        row("qwen", "Qwen Code 0.15.10, out of range · qwen3-coder", "Verifier in S-42", s.Tried(chip=Chip("off", "queued", "Not tried")), warning="This version is older than 0.24.4. It can be used, but only 0.24.4 was tested."),
        row("gemini", "Gemini CLI 0.61.0, in range", "not used", NO_LOGIN, confined=NOTHING),
    )  # fmt: skip


def agents() -> s.AgentsPage:
    return s.AgentsPage(
        entries=(s.Entry("Agents and prices", "cpu", "/settings/agents/", True), s.Entry("First run", "play", "/welcome/"), s.Entry("Your account", "person", "/account/")),
        summary="1 of 4 answered when tried",
        agents=s.AgentsPart(rows=_rows(), unused=(s.Unused("opencode", "1.18.33, in range", "", "/agents/new/?adapter=opencode"),), looked="looked 06:40", is_busy=True),
        roles=RolesForm(agents=dict.fromkeys(("claude", "codex", "qwen", "gemini"), "claude"), initial={"worker": "claude", "reviewer": "codex"}),
        prices=(
            s.PriceRow(model="claude-opus-4-8", family="claude", input="$5.00", cached="$0.50", output="$25.00", since="genai-prices 0.2.3, 14 Nov"),
            s.PriceRow(model="gpt-5.5", family="gpt", input="$1.80", cached="$0.18", output="$14.00", since="you, 21 Nov"),
            s.PriceRow(model="house-model", family="", note="not priced"),
            s.PriceRow(model="qwen3-coder", family="qwen", note="subscription, not priced", since="you, 21 Nov"),
        ),
        source="genai-prices 0.2.3",
        secrets=(
            s.SecretRow(name="claude-key", users="claude", set="you, 14 Nov", used="06:42", href="/settings/secrets/claude-key/"),
            s.SecretRow(name="openai-of-the-team", users="codex, qwen", set="on-call reviewer, 21 Nov", used="never", href="/settings/secrets/openai-of-the-team/"),
        ),
        judges=(
            s.JudgeRow(who="Verifier tests in rowkit", models="a command over claude-opus-4-8", chip=Chip("ok", "shield", "Mechanical"), sub="S-42. Strongest: it measures."),
            s.JudgeRow(who="Reviewer in csvlane", models="gpt-5.5 over claude-opus-4-8", chip=Chip("ok", "shield", "Other family"), sub="S-41."),
            s.JudgeRow(who="Reviewer in ledgersync", models="claude-haiku-4-5 over claude-opus-4-8", chip=Chip("warn", "warn", "Same family"), sub="S-45. Weak: their mistakes may agree."),
            s.JudgeRow(who="Verifier judge in geotiles", models="claude-sonnet-4-8 over claude-sonnet-4-8", chip=Chip("bad", "x", "Same model"), sub="S-46. It judges itself."),
        ),
        changes=(
            CheckLine(tone="off", icon="clock", text="New sessions use it", fact="from S-47"),
            CheckLine(tone="off", icon="lock", text="Sessions that run keep theirs", sub="8 active ones frozen as started"),
            CheckLine(tone="warn", icon="warn", text="A version out of range", sub="warns here, and is noted on each iteration that it ran"),
        ),
        may_read=(("Thinker", "goal, requirements, verdicts"), ("Worker", "goal, requirements, bugs, guidance"), ("Reviewer", "requirements, tree, own test run"), ("Verifier", "criteria, output, own evidence"), ("Coach", "log, outcomes, bugs")),
        parts_url="/settings/parts/", add="/agents/new/", look="/settings/look/", propose="/settings/roles/", change_prices="/settings/prices/", take_prices="/settings/prices/take/", add_secret="/settings/secrets/",
    )  # fmt: skip


def agents_empty() -> s.AgentsPage:
    from dataclasses import replace

    nothing = s.AgentsPart(rows=(), unused=(), looked="not looked yet", is_busy=True)
    return replace(
        agents(), summary="no agent yet", agents=nothing, prices=(), secrets=(), judges=()
    )


_ADAPTERS = (
    s.AdapterChoice(name="claude", word="Claude Code", found="2.1.332, in range", is_there=True, logins="~/.claude/.credentials.json"),
    s.AdapterChoice(name="codex", word="Codex", found="0.171.0, in range", is_there=True, logins="~/.codex/auth.json"),
    s.AdapterChoice(name="gemini", word="Gemini CLI", found="0.61.0, in range", is_there=True, logins="~/.gemini/oauth_creds.json, ~/.gemini/google_accounts.json"),
    s.AdapterChoice(name="opencode", word="opencode", found="not found on this machine", is_there=False, logins="~/.local/share/opencode/auth.json"),
    s.AdapterChoice(name="qwen", word="Qwen Code", found="0.15.10, out of range", is_there=True, logins="~/.qwen/oauth_creds.json"),
    s.AdapterChoice(name="pi", word="pi", found="not found on this machine", is_there=False, logins="~/.pi/agent/auth.json"),
    s.AdapterChoice(name="openai", word="OpenAI-compatible endpoint", found="vLLM, Ollama, LiteLLM, any chat API", is_there=True),
    s.AdapterChoice(name="anthropic", word="Anthropic endpoint", found="Anthropic’s own API", is_there=True),
    s.AdapterChoice(name="command", word="Any command", found="a script, aider, mini-swe-agent", is_there=True),
)  # fmt: skip


def new_agent(adapter: str = "claude", data: dict[str, str] | None = None) -> s.AgentPage:
    initial = {"adapter": adapter, "name": adapter}
    form = AgentForm(data, secrets=["claude-key", "openai-of-the-team"], initial=initial)
    form.is_valid()
    return s.AgentPage(
        form=form, post="/agents/new/", crumbs=CRUMBS, adapters=_ADAPTERS, confined=HOST
    )


def new_agent_refused() -> s.AgentPage:
    return new_agent(
        "command", {"adapter": "command", "name": "My Tool", "command": "tool 'x", "env": "A"}
    )


def agent() -> s.AgentPage:
    settings = {"adapter": "gemini", "model": "gemini-2.5-pro", "key": "claude-key"}
    form = AgentForm(secrets=["claude-key"], fixed="gemini", initial=initial_of(settings))
    return s.AgentPage(
        form=form, post="/settings/agents/gemini/", crumbs=CRUMBS, adapters=_ADAPTERS,
        name="gemini", tried=NO_LOGIN, try_post="/settings/agents/gemini/try/", confined=NOTHING,
        used="Reviewer in S-41", remove="/settings/agents/gemini/remove/", asks=True,
    )  # fmt: skip


def prices() -> s.PricesPage:
    initial = {"input-0": Decimal(5), "cached-0": Decimal("0.5"), "output-0": Decimal(25)}
    data = {"input-0": "5", "cached-0": "0.5", "output-0": "25", "input-1": "x", "output-1": "3"}
    form = PricesForm(data, models=["claude-opus-4-8", "gpt-5.5"], initial=initial)
    form.is_valid()
    return s.PricesPage(
        form=form, post="/settings/prices/", take="/settings/prices/take/",
        source="genai-prices 0.2.3", crumbs=CRUMBS,
    )  # fmt: skip


def secret() -> s.SecretPage:
    return s.SecretPage(
        form=SecretForm(fixed="claude-key"), post="/settings/secrets/claude-key/", crumbs=CRUMBS,
        name="claude-key", users=("claude",), remove="/settings/secrets/claude-key/remove/",
    )  # fmt: skip


# --- first run -------------------------------------------------------------------------------


def _found(key: str, name: str, version: str, tried: s.Tried, **more: object) -> w.FoundAgent:
    return w.FoundAgent(
        key=key, name=name, version=version, tried=tried, post=f"/welcome/try/{key}/", **more
    )


_OLD = s.Tried(chip=Chip("warn", "warn", "Older than 0.24.4"))
_BEFORE = (met("Engine runs", fact="2 s"), met("Agents are confined", fact="2 of 2"))


def welcome() -> w.WelcomePage:
    """All three steps done but the start."""
    rows = (
        _found("claude", "claude", "Claude Code 2.1.332, in range", ANSWERS, settings="/settings/agents/claude/", logins="~/.claude/.credentials.json", lends=True),
        _found("codex", "codex", "Codex 0.171.0, in range", ANSWERS, settings="/settings/agents/codex/"),
        _found("gemini", "gemini", "Gemini CLI 0.61.0, in range", NO_LOGIN, settings="/settings/agents/gemini/", hint="Give it a key (GEMINI_API_KEY) or lend it your sign-in, or go on with another agent."),
        _found("qwen", "Qwen Code", "0.15.10", _OLD, warning="It can be used, but this version was not tested."),
    )  # fmt: skip
    return w.WelcomePage(
        agents=w.FoundPart(rows=rows, is_done=True, is_busy=False, look="/settings/look/", add="/agents/new/?back=/welcome/"),
        repository=w.RepositoryStep(form=RepositoryForm(), project="csvlane", project_facts="/home/you/code/csvlane · 12 requirements · checked by python -m pytest -q", spec="/p/csvlane/specs/"),
        form=GoalForm(initial={"goal": "Read CSV files with quoted fields and mixed line breaks, as R-2 and R-12 say."}),
        ref="S-1", iterations=20, limits="or 2 h, or $10",
        players=(("Worker", "claude · claude-opus-4-8"), ("Reviewer", "codex · gpt-5.5")),
        judged=Chip("ok", "shield", "Other family"),
        before=_BEFORE, parts_url="/welcome/parts/", post_repository="/welcome/repository/",
        post_start="/welcome/start/", demo="/demo/", index="/", button="Start S-1 on csvlane",
    )  # fmt: skip


def welcome_looked() -> w.WelcomePage:
    """The first minute: nothing tried, a folder looked at."""
    from dataclasses import replace

    rows = (
        _found("claude", "Claude Code", "2.1.332", s.Tried(chip=Chip("off", "queued", "Not tried")), logins="~/.claude/.credentials.json"),
        _found("qwen", "Qwen Code", "0.15.10", _OLD, warning="It can be used, but this version was not tested."),
    )  # fmt: skip
    facts = (
        CheckLine(tone="ok", icon="branch", text="Git, branch main", fact="3f02d7a"),
        CheckLine(tone="ok", icon="task", text="Tests found", fact="python -m pytest -q"),
        CheckLine(tone="ok", icon="doc", text="REQUIREMENTS.md", fact="12 numbered"),
        CheckLine(tone="warn", icon="warn", text="Your uncommitted changes are not in the session: notes.txt, draft.py."),
    )  # fmt: skip
    initial = {"path": "/home/you/code/csvlane", "name": "csvlane", "check": "python -m pytest -q", "takes_over": True}  # fmt: skip
    return replace(
        welcome(),
        agents=w.FoundPart(rows=rows, is_done=False, is_busy=False, look="/settings/look/", add="/agents/new/?back=/welcome/"),
        repository=w.RepositoryStep(form=RepositoryForm(initial=initial), facts=facts, statements=12, document="REQUIREMENTS.md", has_looked=True),
        form=GoalForm(), limits="or 2 h", judged=None, button="", why_not="Try an agent first (step 1)",
        players=(("Worker", "no agent answered yet"), ("Reviewer", "no agent answered yet")),
        before=_BEFORE[:1],
    )  # fmt: skip
