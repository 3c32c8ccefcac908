#!/usr/bin/env python3
"""`kenaz stream` with a map of f32 against `cat`, each between the same two processes with a pipe on either side:

    streams.py [--gib N] [--runs N] [--chunk N] [--files FOLDER] KENAZ [OPTION..]     e.g. kenaz --device cpu

They take turns, and the best of each counts, as other work on the machine only makes them slower. Prints rates, the
processor time per GiB of all that is involved (the two ends too), the memory of `kenaz` or its server, whichever has
more, and the ratio of the rates. --files: from a file to a file of this folder, best one in memory (/dev/shm), in
place of the two processes with pipes."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PRODUCER = """import os, sys
block = memoryview(bytes(1 << 20))
for _ in range(int(sys.argv[1])):
    at = 0
    while at < len(block):
        at += os.write(1, block[at:])
"""
CONSUMER = """import os, sys
block, count = bytearray(1 << 20), 0
while got := os.readv(0, [block]):
    count += got
sys.exit(count != int(sys.argv[1]) << 20)
"""


def run_on_files(command, folder, mib):
    """As run(), without processes on either side."""
    source, target = pathlib.Path(folder, "in"), pathlib.Path(folder, "out")
    if not source.exists():
        source.write_bytes(bytes(mib << 20))
    with open(source, "rb") as given, open(target, "wb") as taken:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=given, stdout=taken)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 or target.stat().st_size != mib << 20:
        sys.exit(f"{command[0]} ended with status {process.returncode}")
    target.unlink()
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def run(command, mib):
    """Seconds, processor time of all, and the largest resident memory of the command in MiB."""
    start = time.monotonic()
    python = [sys.executable, "-S", "-c"]
    producer = subprocess.Popen([*python, PRODUCER, str(mib)], stdout=subprocess.PIPE)
    middle = subprocess.Popen(command, stdin=producer.stdout, stdout=subprocess.PIPE)
    producer.stdout.close()
    consumer = subprocess.Popen([*python, CONSUMER, str(mib)], stdin=middle.stdout)
    middle.stdout.close()
    used = memory = 0
    for process in (producer, middle, consumer):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{process.args[0]} ended with status {process.returncode}")
        used += usage.ru_utime + usage.ru_stime
        if process is middle:
            memory = usage.ru_maxrss // 1024
    return time.monotonic() - start, used, memory


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gib", type=float, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--chunk", type=int, default=1 << 20)
    parser.add_argument("--files", type=pathlib.Path)
    parser.add_argument("kenaz")
    args, options = parser.parse_known_args()
    mib = int(args.gib * 1024)
    with tempfile.TemporaryDirectory(prefix="kenaz_bench_") as folder:
        program = pathlib.Path(folder, "map.fut")
        program.write_text("entry main [n] (xs: [n]f32): [n]f32 = map (\\x -> 2 * x + 1) xs\n")
        commands = {"cat": ["cat"],
                    "stream": [args.kenaz, "stream", program, "--chunk", str(args.chunk), *options]}
        run(commands["stream"], 1)  # the driver compiles the kernel
        runs = {name: [] for name in commands}
        with tempfile.TemporaryDirectory(prefix="kenaz_bench_", dir=args.files) as files:
            for _ in range(args.runs):
                for name, command in commands.items():
                    runs[name].append(run_on_files(command, files, mib) if args.files
                                      else run(command, mib))
    for name, results in runs.items():
        rates = ", ".join(f"{args.gib / seconds:.2f}" for seconds, _, _ in results)
        print(f"{name:6} {rates} GiB/s, {min(r[1] for r in results) / args.gib:.2f} s of processors per GiB, "
              f"{max(r[2] for r in results)} MiB")
    best = {name: min(results)[0] for name, results in runs.items()}
    print(f"ratio of the best: {best['cat'] / best['stream']:.2f}")


if __name__ == "__main__":
    main()
