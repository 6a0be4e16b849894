"""Tracker and spec of the story."""

from __future__ import annotations

from dataclasses import replace

from tracker.forms import FileForm, PriorityForm, ReasonForm, RequirementForm, WordsForm
from tracker.pages import board as b
from tracker.pages import filing as f
from tracker.pages import spec as s
from tracker.pages.atoms import Act, CheckLine, Chip, Empty, Filter, Link, met
from tracker.pages.word_diff import changed_count, count_of, numbered, word_diff

BASE = "/p/csvlane/tracker/"
SPECS = "/p/csvlane/specs/"
CITABLE = (
    f.Citable(
        "R-12.3", "A line break inside it is kept as written: LF stays LF, CRLF stays CRLF.", 4
    ),
    f.Citable("R-12.1", "A field in double quotes may hold commas, quotes and line breaks.", 4),
    f.Citable("R-2.1", "LF, CRLF and CR are all line breaks.", 2),
    f.Citable("R-8.1", "The first row of data is row 1.", 2),
)
PEOPLE_ONLY = Chip("off", "lock", "People only")
STALE = Chip("warn", "warn", "Citation stale")


def _card(
    key: str, title: str, note: str, priority: str = "P2", cites: str = "", **more: object
) -> b.BugCard:
    kind, icon = {"B": ("Code bug", "bug"), "T": ("Task", "task"), "Q": ("Spec bug", "doc")}[key[0]]
    return b.BugCard(
        key=key, kind=kind, kind_icon=icon, title=title, href=f"{BASE}{key}/", priority=priority,
        cites=cites, cites_title=f"Cites {cites}", note=note, **more,
    )  # fmt: skip


def columns(current: str = "B-31") -> tuple[b.Column, ...]:
    waiting = (
        _card(
            "T-12",
            "Add “auto” to the delimiter option of the CLI",
            "you, 05:18 · blocks done",
            "P1",
        ),
        _card(
            "B-33",
            "Row numbers are one too high after a skipped row",
            "Reviewer, it. 53",
            "P2",
            "R-8 v2",
        ),
        _card("B-28", "Header check ignores upper case", "R-7 is v3 now", "P3", tags=(STALE,)),
        _card(
            "Q-4",
            "R-16 does not say how many line numbers to name",
            "Reviewer, it. 48",
            "",
            tags=(PEOPLE_ONLY,),
        ),
    )
    working = (
        _card(
            "B-31",
            "A CRLF inside a quoted field becomes LF at a chunk border",
            "Worker, it. 58",
            "P0",
            "R-12 v4",
            note_tone="run",
            is_current=current == "B-31",
        ),
    )
    fixed = (
        _card(
            "B-29", "Byte order mark stays in the first header", "4e8d21c, it. 54", "P2", "R-3 v2"
        ),
        _card("B-27", "Empty last line counts as a row", "b70a9f3, it. 51", "P3", "R-8 v2"),
    )
    closed = (
        _card("B-32", "Tab is not found as a delimiter", "confirmed, it. 48", "P2", "R-5 v1"),
        _card(
            "B-26",
            "Two spaces after a quote crash the reader",
            "confirmed, it. 42",
            "P1",
            "R-12 v4",
        ),
        _card("T-11", "Type hints for the public names", "you closed it, 02:20"),
    )
    return (
        b.Column(name="Open", icon="queued", tone="off", count=4, cards=waiting),
        b.Column(name="In progress", icon="run", tone="run", count=1, cards=working),
        b.Column(name="Fixed, to confirm", icon="eye", tone="wait", count=2, cards=fixed),
        b.Column(
            name="Closed in 24 h",
            icon="ok",
            tone="ok",
            count=17,
            cards=closed,
            more=Link("14 more", "?closed=all"),
        ),
    )


def filing(kind: str = "task", data: dict[str, str] | None = None) -> f.FilingPart:
    told = {
        "task": {"kind": "task", "title": "Report skipped rows in the summary", "text": "The last line of the import summary says how many rows were skipped and names the first three line numbers.", "priority": "P1", "about": "R-16"},
        "code": {"kind": "code", "title": "Old Mac line breaks inside quotes are dropped", "cites": "R-12.3@4", "contradiction": "A lone CR inside a quoted field is removed by strip_cr(). The text says it is kept as written.", "place": "src/csvlane/reader.py:131", "priority": "P2"},
        "spec": {"kind": "spec"},
    }  # fmt: skip
    form = FileForm(
        data,
        citable=CITABLE,
        requirements=[("R-16", "R-16 Import summary, v1")],
        initial=told[kind],
    )
    if data is not None:
        form.is_valid()
    return f.FilingPart(
        form=form,
        project="csvlane",
        post=f"{BASE}file/",
        close=BASE,
        next_lines=(
            CheckLine(
                tone="off",
                icon="clock",
                text="S-41 reads it with iteration 59",
                sub="Iteration 58 runs on undisturbed",
            ),
            CheckLine(
                tone="off",
                icon="undo",
                text="Its done streak goes back to 0 of 2",
                sub="A new clean review is needed",
            ),
        ),
        spec_lines=(
            CheckLine(
                tone="off",
                icon="lock",
                text="No loop reads it and it does not block done",
                sub="It waits on this board for a person",
            ),
        ),
    )


def board(kind: str = "task") -> b.BoardPage:
    return b.BoardPage(
        project="csvlane",
        index=BASE,
        sentence="2 code bugs and 1 task keep the loop from being done:",
        session=Link("S-41", "/sessions/41/"),
        filters=(
            Filter(text="Everything", href="?", is_current=True),
            Filter(text="Blocks done", href="?show=blocks", count=3),
            Filter(text="Needs a person", href="?show=person", count=2),
        ),
        columns=columns(),
        new="?file=task",
        part_url=f"{BASE}parts/",
        coverage=b.Coverage(proved=10, with_bugs=3, rest=5),
        filing=filing(kind),
    )


def board_alone() -> b.BoardPage:
    return replace(board(), filing=None)


def board_refused() -> b.BoardPage:
    return replace(
        board(),
        filing=filing("code", {"kind": "code", "title": "Old Mac line breaks", "priority": "P2"}),
    )


def board_empty() -> b.BoardPage:
    acts = (
        Act(text="File a task", href="?file=task", primary=True),
        Act(text="Write a requirement", href=f"{SPECS}new/"),
    )
    empty = Empty(
        icon="board",
        fact="Nothing is filed yet",
        sentence="A reviewer files code bugs here, each with the requirement it contradicts. Tasks are filed by people only.",
        acts=acts,
    )
    return replace(
        board(),
        columns=(),
        coverage=None,
        filing=None,
        empty=empty,
        session=None,
        sentence="No loop is running in this project.",
        filters=(),
    )


def entry() -> b.BoardPage:
    resets = "S-41 reads it with iteration 59, its streak goes back to 0."
    moves = (
        f.EntryMove(word="Change the priority", icon="up", post="#", why="Seen with the next prompt. The streak stays.", button="Set the priority", form=PriorityForm(initial={"priority": "P0"}, prefix="pri")),
        f.EntryMove(word="Reword", icon="pencil", post="#", why=resets, button="Save the words", form=WordsForm(initial={"title": "A CRLF inside a quoted field becomes LF at a chunk border"}, prefix="words"), is_open=True),
        f.EntryMove(word="Dispute the citation", icon="q", post="#", why=f"Stays open, counted as disputed. {resets}", button="Dispute", form=ReasonForm(label="Why it does not contradict", prefix="dis")),
        f.EntryMove(word="Dismiss", icon="x", post="#", why=f"Closed as an accepted exception. {resets}", button="Dismiss B-31", form=ReasonForm(prefix="no")),
        f.EntryMove(word="Comment", icon="note", post="#", why="Seen with the next prompt. The streak stays.", button="Add", form=ReasonForm(label="Comment", prefix="say")),
    )  # fmt: skip
    part = f.EntryPart(
        key="B-31",
        kind="Code bug",
        kind_icon="bug",
        title="A CRLF inside a quoted field becomes LF at a chunk border",
        chip=Chip("run", "run", "In progress"),
        priority="P0",
        close=BASE,
        cites=Link("R-12.3 v4", f"{SPECS}R-12/#line-3"),
        quote="A line break inside it is kept as written: LF stays LF and CRLF stays CRLF.",
        contradiction="normalise() runs before the quote state is known, so the CR at the end of a chunk is lost.",
        place="src/csvlane/reader.py:131",
        facts=(
            ("Filed by", "Reviewer, S-41 it. 53"),
            ("Worked on by", "Worker, it. 58"),
            ("Found", "2 times"),
            ("Reopened", "once"),
        ),
        moves=moves,
        history=(
            f.HistoryLine("06:36", "30 Nov 2026 06:36:09 UTC", "Worker", "started it, S-41/58"),
            f.HistoryLine(
                "06:01",
                "30 Nov 2026 06:01:44 UTC",
                "Reviewer",
                "reopened it, S-41/53",
                "The test passes only with chunk=4096.",
            ),
            f.HistoryLine(
                "29 Nov 23:10", "29 Nov 2026 23:10:20 UTC", "Reviewer", "filed it, S-41/8"
            ),
        ),
    )
    return replace(board(), filing=None, entry=part)


_OK, _NOT = Chip("ok", "ok", "Proved"), Chip("off", "queued", "Not yet")
_NAMES = (
    "Public names", "Line breaks", "Byte order mark", "Encodings", "Delimiter detection", "Header row",
    "Header names", "Row numbers", "Error report", "Skipping rows", "Blank fields", "Quoted fields",
    "Escapes", "Bounded memory", "Type hints", "Import summary", "Exit codes", "Python versions",
)  # fmt: skip
_CHIPS = {
    3: Chip("wait", "eye", "Confirm"),
    4: _NOT,
    7: Chip("warn", "warn", "Stale"),
    8: Chip("bad", "bug", "1 bug"),
    9: _NOT,
    12: Chip("bad", "bug", "1 bug"),
    14: _NOT,
    16: Chip("lim", "doc", "Unclear"),
}
OLD = """# Quoted fields keep their bytes

A field in double quotes may hold commas, quotes and line breaks.
A doubled quote inside it stands for one quote.
A line break inside it is kept as written: LF stays LF, and CRLF stays CRLF.
A quote that is never closed is an error that names the line.

## Examples

"a\\r\\nb",1   gives   a\\r\\nb | 1
"a""b",2     gives   a"b | 2
"""
NEW = """# Quoted fields keep their bytes

A field in double quotes may hold commas, quotes and line breaks.
A doubled quote inside it stands for one quote.
A line break inside it is kept as written: LF stays LF, CRLF stays CRLF, and a lone CR stays a lone CR.
This holds wherever the reader splits the input into chunks.
A quote that is never closed is an error that names the line where the quote was opened.

## Examples

"a\\r\\nb",1   gives   a\\r\\nb | 1
"a""b",2     gives   a"b | 2
"a\\rb",3     gives   a\\rb | 3
"""


def _rows(current: int) -> tuple[s.RequirementRow, ...]:
    return tuple(
        s.RequirementRow(key=f"R-{number}", title=name, href=f"{SPECS}R-{number}/", chip=_CHIPS.get(number, _OK), is_current=number == current)
        for number, name in enumerate(_NAMES, start=1)
    )  # fmt: skip


def spec(current: int = 0) -> s.SpecPage:
    rows = _rows(current)
    return s.SpecPage(
        project="csvlane", index=BASE, spec=SPECS, count=18, new=f"{SPECS}new/",
        documents=(s.Document("reader.md", rows[:14]), s.Document("cli.md", rows[14:])),
    )  # fmt: skip


def _editor(*, is_reading: bool = False) -> s.EditorPart:
    return s.EditorPart(
        key="R-12",
        title="Quoted fields",
        form=RequirementForm(initial={"text": NEW, "based_on": 4}, citing=["B-31"]),
        post=f"{SPECS}R-12/",
        preview=f"{SPECS}R-12/preview/",
        discard=f"{SPECS}R-12/",
        read_url=f"{SPECS}R-12/",
        write_url=f"{SPECS}R-12/?write=1",
        lines=numbered(NEW),
        line_count=count_of(NEW),
        changed=changed_count(NEW, OLD),
        is_reading=is_reading,
        saving=s.SavingPart(
            version=5,
            against=4,
            citing=("B-31",),
            confirmed=("B-31",),
            diff=word_diff(OLD, NEW),
            lines=(
                CheckLine(tone="off", icon="clock", text="S-41 reads v5 with iteration 59", sub="Iteration 58 finishes on v4"),
                CheckLine(tone="warn", icon="undo", text="Its done streak stays at 0, its last clean review is void"),
                CheckLine(tone="warn", icon="warn", text="B-31 cites v4 and becomes stale", sub="The reviewer judges it against v5, unless you confirm it now"),
                met("S-42 does not use R-12"),
            ),
        ),
        versions=(
            s.VersionRow(number=4, who="you", when="28 Nov 17:20", note="in use by S-41"),
            s.VersionRow(number=3, who="you", when="27 Nov 11:02", compare="?compare=3"),
            s.VersionRow(number=2, who="on-call reviewer", when="26 Nov 09:48", compare="?compare=2"),
        ),
        cited_by=(
            s.Citing("B-31", "A CRLF inside a quoted field becomes LF at a chunk border", f"{BASE}B-31/", Chip("run", "run", "In progress"), True),
            s.Citing("B-26", "Two spaces after a quote crash the reader", f"{BASE}B-26/", Chip("ok", "ok", "Closed"), False),
        ),
    )  # fmt: skip


def requirement() -> s.SpecPage:
    return replace(spec(12), editor=_editor())


def requirement_read() -> s.SpecPage:
    return replace(spec(12), editor=_editor(is_reading=True))


def requirement_new() -> s.SpecPage:
    saving = s.SavingPart(
        version=1,
        against=0,
        lines=(
            CheckLine(tone="off", icon="clock", text="S-41 reads it with iteration 59"),
            CheckLine(tone="off", icon="undo", text="Its done streak goes back to 0 of 2"),
        ),
        diff=(),
    )
    editor = replace(
        _editor(),
        key="",
        title="",
        form=RequirementForm(initial={"based_on": 0}),
        lines=(),
        line_count=1,
        changed=0,
        saving=saving,
        versions=(),
        cited_by=(),
    )
    return replace(spec(), editor=editor)


def spec_empty() -> s.SpecPage:
    empty = Empty(
        icon="doc",
        fact="No requirement is written yet",
        sentence="A requirement is one statement that must hold. The reviewer marks each one, or files a bug that cites it.",
        acts=(Act(text="Write the first one", href=f"{SPECS}new/", primary=True),),
    )
    return replace(spec(), documents=(), count=0, empty=empty)
