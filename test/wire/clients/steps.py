"""For the programs in Python: see steps.mjs."""
import sys

URL, PREFIX = sys.argv[1:3]
STEPS = ["connect", "migrate", "transaction", "rollback", "prepared", "batch", "listen", "pool"]


def report(name, error=None):
    if error is None:
        print("ok", name, flush=True)
    else:
        why = str(error).strip().split("\n")[0] or type(error).__name__
        print(f"not ok {name}: {why}", flush=True)


def run_steps(steps):
    for name in STEPS:
        try:
            steps[name]()
            report(name)
        except Exception as error:
            report(name, error)


async def run_steps_async(steps):
    for name in STEPS:
        try:
            await steps[name]()
            report(name)
        except Exception as error:
            report(name, error)


def equal(found, wanted):
    if found != wanted:
        raise AssertionError(f"found {found!r}, not {wanted!r}")
