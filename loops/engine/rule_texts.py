"""What a rule says, by its name, whichever pattern it is of."""

from __future__ import annotations

from loops.engine import feedback_rules, maker_rules, rules

_TEXTS: dict[str, str] = {
    rule.value: text
    for texts in (rules.TEXT, feedback_rules.TEXT, maker_rules.TEXT)
    for rule, text in texts.items()
}


def rule_text(rule: str) -> str:
    """The rule in one sentence; "" for a name that no pattern has."""
    return _TEXTS.get(rule, "")
