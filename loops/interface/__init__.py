"""The agents' interface: a Unix socket, its verbs, and `loopwatch` on the agent's PATH."""
