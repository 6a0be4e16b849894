"""What apps above may hear. Sent inside the transaction of the write, sender = Project: a receiver
that raises undoes the write; nothing slow belongs into a receiver.

bug_changed: project, bug, change (a `Verb` value), by, counts (bool: a human event in the sense of
RULES 4, before looking at any session's scope).
requirement_changed: project, requirement, version, by. A removed requirement comes with
`requirement.removed_at` set and its last version.
"""

from django.dispatch import Signal

bug_changed = Signal()
requirement_changed = Signal()
