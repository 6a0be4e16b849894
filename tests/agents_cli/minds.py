"""What each role's model would say in a real session: it looks first, then acts on what it saw."""

import json

LOOK = {"shell": "cat app.txt; loopwatch bug list"}
COMMIT = "git -c user.name=a -c user.email=a@localhost commit -qam"


def worker(asked):
    if not asked.results:
        return [LOOK]
    seen = asked.results[0]
    if "bad" in seen:
        act = [{"shell": f"sed -i s/bad/good/ app.txt && {COMMIT} 'Say good'"}]
    elif "B-1" in seen:
        act = [
            {"shell": f"sed -i s/good/fine/ app.txt && {COMMIT} 'Say fine'"},
            {"tool": ["bug_fixed", {"key": "B-1"}]},
        ]
    else:
        return [LOOK, {"tool": [r"(?<!not_)done$", {}]}, {"text": "Nothing is left."}]
    return [LOOK, *act, {"tool": ["not_done", {}]}, {"text": "More is to be done."}]


def reviewer(asked):
    look = {"shell": "cat app.txt; loopwatch bug list --json; loopwatch bug show B-1"}
    if not asked.results:
        return [look]
    seen = asked.results[0]
    if "B-1" not in seen.replace("bug show B-1", "") or "There is no" in seen:
        finding = {
            "cites": "R-1.1",
            "quote": "lacks the word",
            "contradiction": "It says good, which is as vague.",
            "place": "app.txt:2",
            "title": "Vague word in app.txt",
        }
        return [look, {"tool": ["bug_file", finding]}, {"tool": ["review_bugs", {}]}, SAID]
    close = [{"tool": ["bug_close", {"key": "B-1"}]}] if "FIXED" in seen else []
    mark = {"tool": ["review_mark", {"key": "R-1", "verdict": "holds", "where": "app.txt:2"}]}
    return [look, *close, mark, {"tool": ["review_clean", {}]}, SAID]


SAID = {"text": "That is my review."}


def coach(asked):
    return [{"shell": "loopwatch guidance set 'Prefer the exact word.'"}, {"text": "Guided."}]


def thinker(asked):
    plan = {
        "summary": "Replace the word.",
        "success_criteria": [{"text": "app.txt lacks bad", "traces": "R-1"}],
        "selected_worker": "qwen",
    }
    return [{"text": json.dumps(plan)}]


def maker(asked):
    act = {"shell": f"sed -i s/bad/good/ app.txt && {COMMIT} 'Say good'; loopwatch bug list"}
    return [act, {"text": "It is replaced."}]


def verifier(asked):
    is_right = "+this is good" in asked.text
    report = {
        "status": "OK" if is_right else "FAIL",
        "score": 9 if is_right else 2,
        "feedback": "" if is_right else "app.txt still says bad",
        "evidence": [
            {"criterion": "C-1", "status": "OK" if is_right else "FAIL", "evidence": "the diff"}
        ],
    }
    return [{"text": "Here is my report.\n```json\n" + json.dumps(report) + "\n```"}]
