"""Judges that are a model behind an endpoint: one structured reply, no tools, no process."""

from loops.agents.endpoint.agent import Contract, EndpointAgent

__all__ = ["Contract", "EndpointAgent"]
