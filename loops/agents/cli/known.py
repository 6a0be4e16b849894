"""Every coding CLI that Loopwatch drives, by name."""

from __future__ import annotations

from collections.abc import Mapping

from loops.agents.cli.adapter import Adapter
from loops.agents.cli.claude import CLAUDE
from loops.agents.cli.codex import CODEX
from loops.agents.cli.gemini import GEMINI
from loops.agents.cli.opencode import OPENCODE
from loops.agents.cli.pi import PI
from loops.agents.cli.qwen import QWEN

ADAPTERS: Mapping[str, Adapter] = {
    adapter.name: adapter for adapter in (CLAUDE, CODEX, GEMINI, OPENCODE, QWEN, PI)
}
