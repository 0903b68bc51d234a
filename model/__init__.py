"""What the systems do: the language of protocols, the protocols themselves and the native kernel that runs them."""

import time as _time

LOADED = _time.time()
"""When this process began to load the model; see ``own_sources``."""
