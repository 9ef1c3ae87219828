"""What holds for every test: no verdict depends on how fast this machine is, and durations are real."""

import time
from functools import partial

import hypothesis
from _pytest import timing

hypothesis.settings.register_profile("kit", deadline=None)
hypothesis.settings.load_profile("kit")

# freezegun exchanges these functions wherever a module holds them; wrapped, it does not know them.
timing.perf_counter = partial(time.perf_counter)
timing.time = partial(time.time)
