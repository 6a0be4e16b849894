"""What apps above may hear, in the past tense, sent inside the transaction that made it true.

session_blocked: session, questions (tuple of loops.questions.Question).
session_ended: session.
matter_settled: session, subject (tracker key), change, by (tracker By): a person settled what a
question was about through another door.
"""

from django.dispatch import Signal

session_blocked = Signal()
session_ended = Signal()
matter_settled = Signal()
