#!/usr/bin/env python3
"""Calls whose sizes wrap, on one server: each answers what models.py says, or fails by name; the
server goes on, and what another client has is neither changed nor seen.

    sizes_test.py [--entry NAME] SERVER [OPTION..]

The calls are those of cases.py; sizes_fuzz.py makes new programs."""
import argparse
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from sizes.cases import all_cases  # noqa: E402
from sizes.models import Fails, Models  # noqa: E402
from sizes.subject import NAMED, Subject, as_model, differs  # noqa: E402

CALL_TIMEOUT = 1
CASES_PER_LOOK = 250


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--entry")
    parser.add_argument("server", nargs=argparse.REMAINDER)
    return parser.parse_args()


def judge(models, subject, entry, args):
    """What is wrong with the answer, if anything."""
    try:
        wanted = models.call(entry, [as_model(a) for a in args])
    except Fails:
        wanted = None
    except IndexError:  # an empty array is turned
        wanted = None
    result = subject.call(entry, args)
    if isinstance(result, str):
        if not NAMED.search(result):
            return "an unnamed failure: " + result
        if wanted is not None and not models.large:
            return "it should not fail: " + result
        return None
    if wanted is None:
        return f"it should fail: {str(result)[:200]}"
    if differs(result, wanted):
        shape = getattr(wanted, "shape", wanted)
        return f"{str(result)[:200]}, not {shape}"
    return None


def constant_problem(command):
    """A program whose constant is too large must be refused with a message."""
    started = subprocess.run([*command, os.path.join(HERE, "constant.fut")], capture_output=True,
                             stdin=subprocess.DEVNULL, timeout=120, check=False)
    message = started.stderr.decode(errors="replace")
    # The server starts: calls that need the constant fail.
    if started.returncode == 0 and "constant cannot be computed" in message and NAMED.search(message):
        return None
    return f"constant.fut: status {started.returncode}: {message}"


def main():
    arguments = parse_arguments()
    subject = Subject(arguments.server, os.path.join(HERE, "sizes.fut"), CALL_TIMEOUT)
    models = Models()
    walk = [c for c in all_cases() if arguments.entry in (None, c[0])]
    wrong, done = [], 0
    problem = constant_problem(arguments.server)
    if problem is not None:
        wrong.append(problem)
        print(problem)
    slowest = (0.0, None)
    for entry, args in walk:
        start = time.monotonic()
        try:
            problem = judge(models, subject, entry, args)
        except (ConnectionError, RuntimeError) as e:
            problem = str(e)
        slowest = max(slowest, (time.monotonic() - start, f"{entry} {args}"))
        done += 1
        if problem is None and done % CASES_PER_LOOK == 0 and not subject.neighbour.intact():
            problem = "by now, the neighbour's arrays have changed"
        if problem is not None:
            wrong.append(f"{entry} {args}: {problem}")
            print(wrong[-1], flush=True)
        if subject.server.process.poll() is not None or len(wrong) > 50:
            break
    problem = subject.end()
    if problem is not None:
        wrong.append(problem)
        print(problem)
    print(f"{done} calls, {len(wrong)} wrong; the slowest took {slowest[0]:.1f} s: {slowest[1]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
