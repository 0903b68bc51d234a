"""What a cycle from message to message goes through, and what its actions are to it.

Faults are slow and the traffic is fast, so time is cut at arrivals of messages. The phases:

- PRE: nothing of the traffic is under way.
- LEAD: the message before the one that opens the cycle has come, where that may still be under way.
- IN: the message that opens the cycle has come. ON: so has the next one.
- STIRRED: in IN something slow has happened: a fault, the beginning or the end of an outage. AFTER: so has the next message.

In ON and AFTER nothing slow happens: it belongs to a later cycle. A loss is that of the message that opened the cycle; in
stirred phases also that of an older one. The modes are no outage of the metadata store, during one, after it.
"""

PRE, LEAD, IN, ON, STIRRED, AFTER = range(6)
PHASES, MODES = 6, 3
FIRST, ROWS = PHASES * MODES, PHASES * MODES + 1
"""The row of a phase and a mode is the one times MODES and the other; the fault with which a disturbance begins has its own."""
STEP, ARRIVAL, FAULT, ENDING = range(4)
"""What an action is to a cycle: a step of the traffic, an arrival of it, a fault, or what an outage ends with."""
