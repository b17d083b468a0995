"""How long tests wait for what must come: as long as on a machine that is several times slower or busier than ours."""
import time

PATIENCE = 4


def deadline(seconds):
    """For time.monotonic(). `seconds`: what is enough on a quiet machine, many times over."""
    return time.monotonic() + PATIENCE * seconds
