"""What people type about a new session, for each of the three patterns. Validation only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django import forms

from loops.engine.values import ROLES, Pattern
from loops.forms import number, one_of
from loops.independence import Grade, Mind, Pair, grade
from loops.pages.states import PATTERN_WORDS
from loops.session_rows import VerifierRow, WorkerRow, rows_of
from tracker.forms import Inputs, lines, mono

DONE_MODES = (
    ("agent", "Two done signals and a clean review"),
    ("script", "A script exits with 0"),
    ("both", "Both"),
)
Choices = Iterable[tuple[str, str]]

# Fields that only some patterns have; what the others hold is ignored.
FIELDS = {
    Pattern.SINGLE_THREAD: (
        "worker", "reviewer", "coach", "review_every", "coach_every", "done_mode", "script",
    ),
    Pattern.MAKER_VERIFIER: ("maker", "attempts", "reverifications"),
    Pattern.FEEDBACK: (
        "thinker", "retries", "reassigns", "replans", "self_calls", "nested", "reverifications",
    ),
}  # fmt: skip
ROWS = {
    Pattern.SINGLE_THREAD: (),
    Pattern.MAKER_VERIFIER: ("verifiers",),
    Pattern.FEEDBACK: ("pool", "verifiers"),
}
COMMON = (
    "pattern", "gates", "iterations", "hours", "no_progress", "tokens", "money", "no_tokens",
    "no_money",
)  # fmt: skip
# What a session is about. A template has none of it.
ABOUT = ("project", "base", "goal", "scope", "documents", "requirements")
_ORDER = (Pattern.SINGLE_THREAD, Pattern.MAKER_VERIFIER, Pattern.FEEDBACK)
_GATES = ("thinker", "worker", "maker", "reviewer", "verifier", "coach")

# Another project has other requirements: the page comes anew with what was typed. Without a script
# "Look again" does it.
_OTHER_PROJECT = {
    "hx-get": "/sessions/new/",
    "hx-trigger": "change consume",
    "hx-include": "closest form",
    "hx-params": "not csrfmiddlewaretoken,look,base,scope,documents,requirements",
    "hx-target": "#main",
    "hx-select": "#main",
    "hx-swap": "outerHTML",
}


class NewSessionForm(Inputs):
    """One session of any pattern. tokens and money: empty together with the tick "no limit" is the
    explicit "none" of RULES 1; empty alone is refused.

    cleaned_data: as the fields of the chosen pattern; tokens in millions, money in dollars, hours
    as whole hours. pool, verifiers: the rows; they count where `pattern_now` has them.
    """

    project = forms.ChoiceField(label="Project", widget=forms.Select(attrs=_OTHER_PROJECT))
    base = forms.ChoiceField(label="Start from", required=False)
    goal = forms.CharField(
        label="Goal",
        widget=lines(3),
        required=False,
        help_text="Becomes a requirement of this session. Needed only without requirements.",
    )
    scope = forms.ChoiceField(
        label="Requirements",
        initial="all",
        widget=forms.RadioSelect,
        choices=(("all", "All"), ("chosen", "Chosen"), ("none", "Goal only")),
    )
    documents = forms.MultipleChoiceField(
        required=False, label="Documents", widget=forms.CheckboxSelectMultiple
    )
    requirements = forms.MultipleChoiceField(
        required=False, label="Requirements", widget=forms.CheckboxSelectMultiple
    )
    pattern = forms.ChoiceField(
        label="Pattern",
        initial=Pattern.SINGLE_THREAD.value,
        widget=forms.RadioSelect,
        choices=tuple((one.value, PATTERN_WORDS[one]) for one in _ORDER),
    )
    worker = forms.ChoiceField(label="Worker")
    reviewer = forms.ChoiceField(label="Reviewer")
    coach = forms.ChoiceField(label="Coach", required=False)
    thinker = forms.ChoiceField(label="Thinker")
    maker = forms.ChoiceField(label="Maker")
    review_every = number("Review after", "work turns", 3, most=10_000)
    coach_every = number("Coach after", "worker turns", 8, most=10_000)
    done_mode = forms.ChoiceField(
        label="Done when", choices=DONE_MODES, initial="agent", widget=forms.RadioSelect
    )
    script = forms.CharField(
        label="Script",
        required=False,
        max_length=10_000,
        widget=mono(),
        help_text="Path in the repository. A copy is taken at the start; agents cannot change it.",
    )
    retries = number("Retries", "same worker", 2, least=0, most=1000)
    reassigns = number("Reassigns", "next worker", 2, least=0, most=1000)
    replans = number("Replans", "new plan", 2, least=0, most=1000)
    self_calls = number("Thinks again", "own wish", 1, least=0, most=1000)
    nested = forms.BooleanField(label="Count anew under each plan and worker", required=False)
    attempts = number("Attempts", "at most", 4, most=10_000)
    reverifications = number("Second opinions", "each attempt", 1, least=0, most=1000)
    gates = forms.MultipleChoiceField(
        label="Ask me before",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        choices=tuple((role, role.capitalize()) for role in _GATES),
    )
    iterations = number("Iterations", "at most", 40, most=10_000)
    hours = number("Time", "hours", 8, most=744)
    no_progress = number("Without a change", "in a row", 6, most=10_000)
    tokens = number("Tokens", "million", None, most=1_000_000, required=False)
    money = number("Money", "dollars", None, most=1_000_000, required=False)
    no_tokens = forms.BooleanField(label="No token limit", required=False, initial=True)
    no_money = forms.BooleanField(label="No money limit", required=False, initial=True)
    judges_itself = forms.BooleanField(label="I know that it judges itself", required=False)

    def __init__(
        self,
        *args: Any,
        projects: Choices = (),
        bases: Choices = (),
        agents: Sequence[tuple[str, str]] = (),
        documents: Choices = (),
        requirements: Choices = (),
        minds: Mapping[str, Mind] | None = None,
        **kwargs: Any,
    ) -> None:
        """minds: agent -> what thinks behind it."""
        super().__init__(*args, **kwargs)
        self._minds = minds or {}
        self.fields["project"].choices = list(projects)
        self.fields["base"].choices = list(bases)
        self.fields["documents"].choices = list(documents)
        self.fields["requirements"].choices = list(requirements)
        for role in ("worker", "reviewer", "thinker", "maker"):
            self.fields[role].choices = list(agents)
        self.fields["coach"].choices = [("", "No coach"), *agents]
        data: Mapping[str, Any] | None = self.data if self.is_bound else None
        self.pool = rows_of(WorkerRow, "pool", data, self.initial.get("pool", ()), agents)
        self.verifiers = rows_of(
            VerifierRow, "verifiers", data, self.initial.get("verifiers", ()), agents
        )

    @property
    def pattern_now(self) -> Pattern:
        """As it stands; what is no pattern counts as the first."""
        value = self["pattern"].value()
        return Pattern(value) if value in set(Pattern) else Pattern.SINGLE_THREAD

    @property
    def rows(self) -> tuple[WorkerRow, ...]:
        """Those that the pattern has."""
        names = ROWS[self.pattern_now]
        pool = self.pool if "pool" in names else ()
        return (*pool, *(self.verifiers if "verifiers" in names else ()))

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Every judge over each that it judges, as the form stands."""
        made, judges = self._players()
        return tuple(
            Pair(
                maker=maker,
                judge=judge,
                made_by=self._minds[one],
                judged_by=self._minds[other],
                grade=Grade.MECHANICAL if measures else grade(self._minds[one], self._minds[other]),
            )
            for judge, other, measures in judges
            for maker, one in made
            if one in self._minds and other in self._minds
        )

    @property
    def chosen(self) -> tuple[str, ...]:
        """Every agent that takes part as the form stands, each once."""
        made, judges = self._players()
        rest = {Pattern.SINGLE_THREAD: ("coach",), Pattern.FEEDBACK: ("thinker",)}
        others = [str(self[role].value() or "") for role in rest.get(self.pattern_now, ())]
        names = [*(one for _, one in made), *(one for _, one, _measures in judges), *others]
        return tuple(dict.fromkeys(filter(None, names)))

    @property
    def needs_a_word(self) -> bool:
        """A verifier would judge its own model: refused unless a person says that it is known."""
        is_thread = self.pattern_now is Pattern.SINGLE_THREAD
        return not is_thread and any(one.grade is Grade.SAME_MODEL for one in self.pairs)

    def _players(self) -> tuple[list[tuple[str, str]], list[tuple[str, str, bool]]]:
        """(who, agent) of those that work; (who, agent, it measures) of those that judge it."""

        def one(role: str) -> tuple[str, str]:
            return role, str(self[role].value() or "")

        def row(played: WorkerRow) -> tuple[str, str]:
            name = str(played.value("name") or "")
            who = played.what if name in ("", played.what) else f"{played.what} {name}"
            return who, str(played.value("agent") or "")

        judges = [(*row(played), bool(played.value("mechanical"))) for played in self.verifiers]
        match self.pattern_now:
            case Pattern.SINGLE_THREAD:
                return [one("worker")], [(*one("reviewer"), False)]
            case Pattern.MAKER_VERIFIER:
                return [one("maker")], judges
            case Pattern.FEEDBACK:
                return [row(played) for played in self.pool], judges

    def focus_on_new(self, added: str) -> None:
        """added: which rows have a new one at their end; "" for none."""
        rows: list[WorkerRow] = [*self.pool] if added == "pool" else [*self.verifiers]
        if added in ("pool", "verifiers") and rows:
            rows[-1].fields["name"].widget.attrs["autofocus"] = True

    def is_valid(self) -> bool:
        return super().is_valid() and not any(row.errors for row in self.rows)

    @property
    def faults(self) -> tuple[tuple[str, str], ...]:
        """(id of the input or "", sentence) of all that is wrong, in the order of the page."""
        own = [("", error) for error in self.non_field_errors()]
        for part in (self, *self.rows):
            for field in part:
                target = field.id_for_label or field.auto_id
                own += [(str(target), str(error)) for error in field.errors]
        return tuple(own)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        self._forget_other_patterns(data)
        for name in ("tokens", "money"):
            one_of(self, data, name)
        if data.get("scope") == "none" and not str(data.get("goal", "")).strip():
            self.add_error("goal", "A session without requirements needs a goal.")
        chosen = data.get("documents") or data.get("requirements")
        if data.get("scope") == "chosen" and not chosen:
            self.add_error("scope", "Choose at least one document or requirement.")
        if data.get("done_mode") in ("script", "both") and not data.get("script"):
            self.add_error("script", "Name the script that says when the loop is done.")
        data["gates"] = [one for one in data.get("gates", ()) if one in ROLES[self.pattern_now]]
        self._check_rows()
        if self.needs_a_word and not data.get("judges_itself"):
            self.add_error("judges_itself", "Choose another model, or say that you know it.")
        return data

    def _forget_other_patterns(self, data: dict[str, Any]) -> None:
        mine = FIELDS[self.pattern_now]
        for name in {name for names in FIELDS.values() for name in names} - set(mine):
            self.errors.pop(name, None)
            data.pop(name, None)

    def _check_rows(self) -> None:
        has = ROWS[self.pattern_now]
        if "pool" in has and not self.pool:
            self.add_error(None, "At least one worker is needed: add one to the pool.")
        policies = [row.value("policy") for row in self.verifiers]
        if "verifiers" in has and "required" not in policies:
            self.add_error(None, "At least one verifier must be required: nothing else decides.")
        taken: set[str] = set()
        for row in self.rows:
            name = row.cleaned_data.get("name") if row.is_valid() else None
            if name in ROLES[self.pattern_now] and name in FIELDS[self.pattern_now]:
                row.add_error("name", f"{name!r} is the name of a role here; choose another.")
            elif name in taken:
                row.add_error("name", f"There are two of the name {name!r}.")
            elif name:
                taken.add(name)

    def gate_boxes(self) -> Iterator[tuple[str, Any]]:
        """(classes that show it with its patterns, box) for each role."""
        for box in self["gates"]:
            role = str(box.data["value"])
            yield " ".join(f"for-{one.value}" for one in Pattern if role in ROLES[one]), box


class TemplateForm(Inputs):
    """The name that a session's set-up is kept under."""

    template_name = forms.CharField(label="Name of the template", max_length=60)
