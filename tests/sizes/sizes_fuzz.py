#!/usr/bin/env python3
"""Random programs of things that have sizes, called with sizes near the edges, on the device and on
the reference evaluator.

    sizes_fuzz.py [--seconds N] [--seed N] SERVER [OPTION..]

Both must go on, fail by name if they fail, and agree where both answer; what another client of
either has must stay. Where one answers and the other does not, that is counted: the evaluator keeps
arrays that the device never makes, and makes checks that nothing needs. A finding is printed with
its program and calls."""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from sizes.cases import MAX, MIN  # noqa: E402
from sizes.subject import NAMED, Subject  # noqa: E402

ENTRIES, CALLS = 10, 14
# What is computed in no time, and what nobody has memory for.
SIZES = (0, 1, 2, 3, 4, 5, 6, 17, 70, -1, -5, MIN, 2**45, 2**58 + 1, 2**60, 2**60 + 1, 2**61, 2**62,
         2**62 + 16, MAX - 1, MAX)


class Maker:
    """Expressions as text. `sizes`: names of numbers in scope."""

    def __init__(self, chance):
        self.chance = chance

    def size(self, sizes):
        pick = self.chance.random()
        name = self.chance.choice(sizes)
        if pick < 0.6:
            return name
        if pick < 0.8:
            return str(self.chance.choice((0, 1, 2, 3, 6, 2**33, 2**61, MAX)))
        other = self.chance.choice((*sizes, "1", "4"))
        return f"({name} {self.chance.choice('+-*')} {other})"

    def row(self, sizes, depth):
        """An array of i64."""
        size = lambda: self.size(sizes)  # noqa: E731
        inner = (lambda: self.row(sizes, depth - 1)) if depth > 0 else lambda: "xs"
        table = (lambda: self.table(sizes, depth - 1)) if depth > 0 else lambda: "[xs, xs]"
        return self.chance.choice((
            lambda: f"(replicate {size()} {size()})",
            lambda: f"(iota {size()})",
            lambda: f"({size()}..{size()}...{size()})",
            lambda: f"({size()}..<{size()})",
            lambda: f"({size()}..{size()}..>{size()})",
            lambda: f"({inner()} ++ {inner()})",
            lambda: f"(let ys = {inner()} in ys ++ ys)",
            lambda: f"(let ys = {inner()} in ys[{size()}:{size()}:{size()}])",
            lambda: f"(let ys = {inner()} in ys[{size()}:{size()}])",
            lambda: f"(let ys = {inner()} in ys[::{size()}])",
            lambda: f"(take {size()} {inner()})",
            lambda: f"(drop {size()} {inner()})",
            lambda: f"(reverse {inner()})",
            lambda: f"(map (+ {size()}) {inner()})",
            lambda: f"(scan (+) 0 {inner()})",
            lambda: f"(filter (< {size()}) {inner()})",
            lambda: f"(flatten {table()})",
            lambda: f"(let yss = {table()} in yss[{size()}])",
            lambda: f"(map (\\ys -> length ys) {table()})",
            lambda: f"(scatter (replicate {size()} 0) (copy xs) (copy xs))",
            lambda: f"(hist (+) 0 {size()} xs (map (const 1) xs))",
            lambda: f"(copy xs with [{size()}:{size()}] = replicate {size()} 9)",
            lambda: f"(map (\\i -> let zs = {self.row((*sizes, 'i'), min(depth - 1, 1))} "
                    f"in if length zs > {size()} then zs[{size()}] else length zs) {inner()})",
            lambda: f"(flatmap' (\\i -> replicate i {size()}) {inner()}).3",
        ))()

    def table(self, sizes, depth):
        """An array of arrays of i64."""
        size = lambda: self.size(sizes)  # noqa: E731
        inner = (lambda: self.row(sizes, depth - 1)) if depth > 0 else lambda: "xs"
        table = (lambda: self.table(sizes, depth - 1)) if depth > 0 else lambda: "[xs, xs]"
        n, m = size(), size()
        return self.chance.choice((
            lambda: f"(replicate {n} {inner()})",
            lambda: f"(tabulate_2d {n} {m} (\\i j -> i * 3 + j))",
            lambda: f"(unflatten ({inner()} :> [{n} * {m}]i64))",
            lambda: f"(unflatten (flatten {table()} :> [{n} * {m}]i64))",
            lambda: f"(transpose {table()})",
            lambda: f"(let yss = {table()} in yss ++ yss)",
            lambda: f"(let yss = {table()} in yss[{size()}:{size()}, ::{size()}])",
            lambda: f"(map (\\i -> scan (+) i (replicate {n} {m})) {inner()})",
            lambda: f"(map (map (+ 1)) {table()})",
            lambda: f"(scan (map2 (+)) (replicate {m} 0) (replicate {n} (replicate {m} 1)))",
        ))()

    def entry(self, number):
        sizes = ("n", "m", "k")
        depth = self.chance.randint(0, 3)
        body = self.chance.choice((
            lambda: f"length {self.row(sizes, depth)}",
            lambda: self.row(sizes, depth),
            lambda: f"{self.row(sizes, depth)}[{self.size(sizes)}]",
            lambda: f"flatten {self.table(sizes, depth)}",
            lambda: f"length (flatten {self.table(sizes, depth)})",
            lambda: f"map (\\ys -> ys[{self.size(sizes)}]) {self.table(sizes, depth)}",
        ))()
        return f"entry e{number} (n: i64) (m: i64) (k: i64) (xs: []i64) = {body}\n"


def loads(server, text, folder):
    path = os.path.join(folder, "one.fut")
    with open(path, "w") as file:
        file.write(text)
    command = [server, "--dump", "glsl", path]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120)
    if done.returncode < 0 or b"internal error" in done.stderr:
        raise RuntimeError(f"loading ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    return done.returncode == 0


class Fuzzer:
    def __init__(self, command, chance):
        self.command, self.chance = command, chance
        self.maker = Maker(chance)
        self.count = {"programs": 0, "entries": 0, "refused": 0, "calls": 0, "both answer": 0,
                      "both fail": 0, "device only": 0, "evaluator only": 0}

    def program(self, folder):
        entries = []
        while len(entries) < ENTRIES:
            text = self.maker.entry(len(entries))
            if loads(self.command[0], text, folder):
                entries.append(text)
            else:
                self.count["refused"] += 1
        self.count["entries"] += len(entries)
        return "".join(entries)

    def compare(self, entry, answers):
        device, evaluator = answers
        for name, answer in (("device", device), ("evaluator", evaluator)):
            if isinstance(answer, str) and not NAMED.search(answer):
                return f"{name}: an unnamed failure: {answer}"
        texts = [isinstance(a, str) for a in answers]
        outcome = ("both answer", "evaluator only", "device only", "both fail")
        self.count[outcome[2 * (not texts[0] and texts[1]) + (texts[0] and not texts[1]) +
                           3 * (texts[0] and texts[1])]] += 1
        if not any(texts) and device != evaluator:
            return f"device: {str(device)[:300]}\nevaluator: {str(evaluator)[:300]}"
        return None

    def run(self, folder):
        """One program. What is wrong, if anything."""
        text = self.program(folder)
        path = os.path.join(folder, "sizes.fut")
        with open(path, "w") as file:
            file.write(text)
        subjects = [Subject(self.command, path, 2), Subject([self.command[0], "--reference"], path, 2)]
        self.count["programs"] += 1
        problem, calls = None, []
        try:
            for _ in range(CALLS * ENTRIES):
                entry = f"e{self.chance.randrange(ENTRIES)}"
                args = [self.chance.choice(SIZES) for _ in range(3)]
                args.append([self.chance.choice(SIZES[:10] if self.chance.random() < 0.7 else SIZES)
                             for _ in range(self.chance.randint(0, 6))])
                calls.append((entry, args))
                self.count["calls"] += 1
                problem = self.compare(entry, [s.call(entry, args) for s in subjects])
                if problem is not None:
                    break
        except (ConnectionError, RuntimeError, TimeoutError) as e:
            problem = repr(e)
        for name, subject in zip(("device", "evaluator"), subjects):
            ended = subject.end()
            if ended is not None:
                problem = f"{problem or ''}\n{name}: {ended}\n{subject.server.log()[-2000:]}"
        if problem is None:
            return None
        line = [t for t in text.splitlines() if t.startswith(f"entry {calls[-1][0]} ")]
        return f"{problem}\nlast call: {calls[-1]}\n{line}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("server", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    fuzzer = Fuzzer(arguments.server, random.Random(arguments.seed))
    findings = 0
    end = time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory(prefix="kenaz_sizes_") as folder:
        while time.monotonic() < end and findings < 20:
            problem = fuzzer.run(folder)
            if problem is not None:
                findings += 1
                print(f"---- finding {findings}\n{problem}", flush=True)
    print(", ".join(f"{n} {name}" for name, n in fuzzer.count.items()), f"; {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
