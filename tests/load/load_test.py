#!/usr/bin/env python3
"""Many sessions at a time, over TCP: every answer right, nobody waits much longer than the others,
and the server's memory stays as it is.

    load_test.py [--sessions N] [--calls N] [--rounds N] [--slack MIB] CLIENT -- SERVER [OPTION..]

CLIENT is load_client, which makes the sessions of one round and checks their answers. Fails if a
session's total waiting is above 10 times the median, or the server's memory grows by more than a
tenth and --slack after the first round, which fills its caches."""
import argparse
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support.server import Server, raise_file_limit  # noqa: E402

MOST_WAIT = 10  # times the median
MIB = 1 << 20


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slack", type=int, default=8, help="MiB that memory may grow by")
    parser.add_argument("client")
    parser.add_argument("server", nargs="+")
    return parser.parse_args()


def round_of(arguments, port):
    """What the client measured, by name."""
    done = subprocess.run([arguments.client, str(port), str(arguments.sessions),
                           str(arguments.calls)], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError("the client failed")
    words = done.stdout.split()
    return {name: float(number) for name, number in zip(words[::2], words[1::2])}


def run(arguments, server):
    problems = []
    sizes = []
    for number in range(1, arguments.rounds + 1):
        figures = round_of(arguments, server.ports[0])
        stats = server.wait_until_idle()
        sizes.append(server.rss())
        ratio = figures["wait_most"] / figures["wait_median"]
        print(f"round {number}: {figures['exchanges'] / figures['seconds']:.0f} exchanges/s; a "
              f"session waits {figures['wait_median'] / 1e3:.2f} s, at most {ratio:.2f} times the "
              f"median; an exchange {figures['exchange_median'] / 1e3:.2f} ms, at most "
              f"{figures['exchange_most'] / 1e3:.1f}; server {sizes[-1] / MIB:.1f} MiB, device "
              f"memory used {stats['device_memory_used_bytes']} bytes", flush=True)
        if ratio > MOST_WAIT:
            problems.append(f"round {number}: a session waits {ratio:.1f} times the median")
        if stats["device_memory_used_bytes"] != arguments.memory_at_start:
            problems.append(f"round {number}: device memory is not given back")
    growth = max(sizes[1:], default=sizes[0]) - sizes[0]
    print(f"memory after the first round and the most later: {growth / MIB:+.1f} MiB")
    if growth > sizes[0] / 10 + arguments.slack * MIB:
        problems.append(f"the server's memory grows: {[s // MIB for s in sizes]} MiB")
    return problems


def main():
    arguments = parse_arguments()
    raise_file_limit()
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "load.fut")
    server = Server([*arguments.server, program])
    arguments.memory_at_start = server.stats()["device_memory_used_bytes"]
    print(f"{arguments.sessions} sessions, {arguments.calls} calls each")
    try:
        problems = run(arguments, server)
    except (RuntimeError, OSError) as error:
        problems = [str(error)]
    status = server.stop()
    if status != 0:
        problems.append(f"the server's exit status: {status}\n{server.log()}")
    for problem in problems:
        print("FAILED:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
