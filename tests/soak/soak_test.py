#!/usr/bin/env python3
"""Clients that do all sorts of things, good and bad, to two servers for a given time: one that takes
everybody, one with TLS and a token. What they get is checked, and that the servers give everything
back: sessions, device memory, memory; that they still answer; that they end when told to.

    soak_test.py [--seconds N] [--workers N] [--seed N] [--slack MIB] [--no-load] SERVER [OPTION..]

The time is divided into rounds. After each, when all clients are gone, the servers' memory is
compared with what it was after the first: it may have grown by a tenth and --slack."""
import argparse
import multiprocessing
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support.server import Line, Server, raise_file_limit  # noqa: E402
from soak.client import Place, scalar, value  # noqa: E402
from soak.scenarios import work  # noqa: E402

MIB = 1 << 20
LIMITS = ["--session-timeout", "1", "--drain-timeout", "5", "--max-upload", "1gib"]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--slack", type=int, default=32, help="MiB")
    parser.add_argument("--no-load", action="store_true", help="clients load no programs")
    parser.add_argument("server", nargs=argparse.REMAINDER)
    return parser.parse_args()


def make_certificate(folder):
    cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", key, "-out", cert], check=True, stderr=subprocess.DEVNULL)
    return cert, key


class Subject:
    """A server, with what it looked like at the start."""

    def __init__(self, name, command, token=None, certificate=None, loads=True):
        self.name, self.token = name, token
        self.server = Server(command)
        self.place = Place(self.server, token, certificate, loads)
        self.warm_up()
        self.at_start = self.stats()["device_memory_used_bytes"]
        self.sizes = []

    def line(self):
        line = Line.unix(self.server.path, timeout=120)
        if self.token:
            line.request("auth " + self.token)
        return line

    def warm_up(self):
        """Has all kernels compiled on all devices, those for few elements too: they stay."""
        line = self.line()
        for type_name, number in (("i32", 1), ("i64", 1), ("f32", 1.0)):
            line.upload(type_name, type_name, scalar(type_name, number))
        line.upload("many", "[]i32", value(range(300_000)))
        line.upload("few", "[]i32", value(range(3)))
        for row in line.request("devices"):
            line.request("device " + row.split()[0])
            for program in ("soak", "more"):
                line.request("program " + program)
                for entry in line.request("entry_points"):
                    types = [t.strip("*") for t in line.request("inputs " + entry)]
                    for array in ("many", "few") if "[]i32" in types else ("none",):
                        words = " ".join(array if t == "[]i32" else t for t in types)
                        line.request(f"call {entry} out {words}")
                        line.request("free out")
        line.close()

    def stats(self):
        line = self.line()
        try:
            return self.server.stats(line)
        finally:
            line.close()

    def settle(self, seconds=60):
        """When all clients are gone: what is still held."""
        end = time.monotonic() + seconds
        while True:
            stats = self.stats()
            held = stats["device_memory_used_bytes"] - self.at_start
            if stats["connections"] == 1 and stats["sessions"] <= 1 and held == 0:
                break
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name}: {stats['connections'] - 1} connections, "
                                   f"{stats['sessions'] - 1} sessions and {held} bytes of device "
                                   "memory do not go away")
            time.sleep(0.2)
        line = self.line()
        line.request("clear")
        line.close()
        self.sizes.append(self.server.rss())
        return stats


def run_round(places, seeds, until):
    """What went wrong, and how often each scenario went right."""
    problems, counts = [], {}
    pipes, processes = [], []
    for seed in seeds:
        mine, theirs = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.Process(target=work, args=(places, seed, until, theirs))
        process.start()
        theirs.close()
        pipes.append(mine)
        processes.append(process)
    for pipe, process in zip(pipes, processes):
        try:
            while not isinstance(message := pipe.recv(), dict):
                problems.append(message)
            for name, count in message.items():
                counts[name] = counts.get(name, 0) + count
        except EOFError:
            problems.append("a worker ended without a word")
        process.join()
    return problems, counts


def soak(arguments, subjects):
    rounds = max(3, min(30, int(arguments.seconds / 60)))
    places = [s.place for s in subjects]
    total = {}
    for number in range(rounds):
        until = time.monotonic() + arguments.seconds / rounds
        first = arguments.seed * 1000 + number * arguments.workers
        problems, counts = run_round(places, range(first, first + arguments.workers), until)
        for name, count in counts.items():
            total[name] = total.get(name, 0) + count
        if problems:
            return problems
        for subject in subjects:
            stats = subject.settle()
            print(f"round {number + 1} of {rounds}, {subject.name}: "
                  f"{stats['connections_total']} connections, {stats['commands_total']} commands, "
                  f"{stats['calls_total']} calls, {subject.sizes[-1] / MIB:.1f} MiB", flush=True)
    print("scenarios:", " ".join(f"{name} {count}" for name, count in sorted(total.items())))
    problems = []
    for subject in subjects:
        first, most = subject.sizes[0], max(subject.sizes[1:])
        if most > first * 1.1 + arguments.slack * MIB:
            problems.append(f"{subject.name}: memory grows: "
                            f"{[size // MIB for size in subject.sizes]} MiB")
        if not subject.line().request("entry_points"):
            problems.append(f"{subject.name} does not answer as it should")
    return problems


def main():
    arguments = parse_arguments()
    if not arguments.server:
        sys.exit("usage: soak_test.py [--seconds N] SERVER [OPTION..]")
    raise_file_limit()
    here = os.path.dirname(os.path.abspath(__file__))
    programs = [os.path.join(here, name) for name in ("soak.fut", "more.fut")]
    loads = not arguments.no_load
    command = [*arguments.server, *LIMITS, *(["--allow-load"] if loads else []), *programs]
    plain = Subject("plain", command, loads=loads)
    folder = plain.server.folder
    cert, key = make_certificate(folder)
    token = "a token of the soak's own"[2:].replace(" ", "-")
    with open(os.path.join(folder, "token"), "w") as file:
        file.write(token + "\n")
    guarded = Subject("guarded", [*command, "--tls-cert", cert, "--tls-key", key, "--token-file",
                                  file.name], token, cert, loads)
    print(f"seed {arguments.seed}, {arguments.seconds:.0f} s, {arguments.workers} workers",
          flush=True)
    try:
        problems = soak(arguments, [plain, guarded])
    except (RuntimeError, OSError) as error:
        problems = [str(error)]
    for subject in (plain, guarded):
        held = subject.line() if not problems else None  # no reason for it not to end
        status = subject.server.stop()
        if held:
            held.close()
        if status != 0 or problems:
            problems.append(f"{subject.name}: exit status {status}, log:\n{subject.server.log()}")
    for problem in problems:
        print("FAILED:", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
