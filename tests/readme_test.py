#!/usr/bin/env python3
"""Runs the commands that README.md, or another page, shows and compares what they print:

    readme_test.py [PAGE.md] BINARIES

In an indented block, a line `$ COMMAND` is followed by what it prints, on standard output and error.
All of them run in one scratch folder, in order. `$ cat FILE` makes a file that is not there; a
command with & serves on a Unix socket until the end, where SIGTERM must end it with status 0. Run times
may differ."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


def steps(text):
    """(command, lines of output)"""
    found = []
    lines = text.splitlines()
    for line, after in zip(lines, [*lines[1:], ""]):
        if line.startswith("    $ "):
            found.append((line[6:], []))
        elif line.startswith("    ") and found and found[-1] is not None:
            found[-1][1].append(line[4:])
        elif not line and found and found[-1] and after.startswith("    ") and after[4] != "$":
            found[-1][1].append("")  # an empty line in the middle of what is printed
        else:
            found.append(None)
    return [f for f in found if f]


def same(expected, got):
    return [re.sub(r"^runtime: \d+$", "runtime:", line) for line in expected] == [
        re.sub(r"^runtime: \d+$", "runtime:", line) for line in got]


class Run:
    def __init__(self, folder, binaries):
        self.folder = folder
        self.env = {**os.environ, "PATH": ":".join([*binaries, os.environ["PATH"]]),
                    "XDG_CACHE_HOME": folder}
        self.servers = []
        self.problems = []

    def step(self, command, expected):
        if command.startswith("cat ") and not os.path.exists(self.path(command[4:])):
            with open(self.path(command[4:]), "w") as file:
                file.write("\n".join(expected) + "\n")
        elif command.endswith(" &"):
            self.serve(command[:-2])
        else:
            done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.env, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
            got = done.stdout.splitlines()
            if not same(expected, got):
                self.problems.append("\n  ".join([f"$ {command}", "expected:", *expected, "got:",
                                                  *got]))

    def path(self, name):
        return os.path.join(self.folder, name)

    def serve(self, command):
        server = subprocess.Popen(["bash", "-c", "exec " + command], cwd=self.folder, env=self.env,
                                  stderr=subprocess.DEVNULL)
        self.servers.append((command, server))
        socket = self.path(re.search(r"unix://(\S+)", command).group(1))
        for _ in range(1200):
            if os.path.exists(socket) or server.poll() is not None:
                return
            time.sleep(0.1)

    def end(self):
        for command, server in self.servers:
            server.send_signal(signal.SIGTERM)
            if server.wait(60) != 0:
                self.problems.append(f"{command}: exit status {server.returncode}")


def main():
    page = "README.md"
    binaries = sys.argv[1:]
    if binaries[0].endswith(".md"):
        page = binaries.pop(0)
    with open(os.path.join(ROOT, page)) as file:
        commands = steps(file.read())
    if not commands:
        sys.exit(f"{page} shows no commands")
    with tempfile.TemporaryDirectory(prefix="kenaz_readme_") as folder:
        run = Run(folder, binaries)
        try:
            for command, expected in commands:
                run.step(command, expected)
        finally:
            run.end()
    for problem in run.problems:
        print(problem)
    print(f"{len(commands) - len(run.problems)} of {len(commands)} commands do as {page} says")
    return 1 if run.problems else 0


if __name__ == "__main__":
    sys.exit(main())
