"""The agents' interface: a Unix socket, its verbs, and `loopwatch` on the agent's PATH."""

from loops.interface.context import Answer, Collected, Collector, Context, Used
from loops.interface.install import install
from loops.interface.server import Interface
from loops.interface.verbs import dispatch

__all__ = [
    "Answer",
    "Collected",
    "Collector",
    "Context",
    "Interface",
    "Used",
    "dispatch",
    "install",
]
