"""What holds for every test: no verdict depends on how fast this machine is, and durations are real."""

import signal
import time
from functools import partial

import hypothesis
from _pytest import timing

hypothesis.settings.register_profile("kit", deadline=None)
hypothesis.settings.load_profile("kit")

# freezegun exchanges these functions wherever a module holds them; wrapped, it does not know them.
timing.perf_counter = partial(time.perf_counter)
timing.time = partial(time.time)

# A shell starts what runs behind it without these signals, and nohup without the second; processes inherit that.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)
