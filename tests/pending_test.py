#!/usr/bin/env python3
"""The programs in tests/pending are expected to fail:

    pending_test.py KENAZ SERVER

Each is invalid Futhark that is accepted all the same. One that is rejected as it should be by now
must move to tests/programs/rejected; anything else that `kenaz test` says of one is a failure."""
import os
import pathlib
import subprocess
import sys

FOLDER = "tests/pending"


def reasons(output):
    """program: the line after its FAIL"""
    lines = output.splitlines()
    return {line[5:]: following.strip() for line, following in zip(lines, [*lines[1:], ""])
            if line.startswith("FAIL ")}


def main():
    kenaz, server = map(os.path.abspath, sys.argv[1:])
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    done = subprocess.run([kenaz, "test", "--server", server, "--reference", FOLDER],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    failed = reasons(done.stdout)
    programs = sorted(str(path) for path in pathlib.Path(FOLDER).glob("*.fut"))
    problems = []
    for program in programs:
        reason = failed.get(program)
        if reason is None:
            problems.append(f"{program} passes: move me to tests/programs/rejected")
        elif not reason.startswith("accepted, but should be rejected"):
            problems.append(f"{program}: {reason}")
    for problem in problems:
        print(problem)
    if problems:
        print(done.stdout)
    print(f"{len(programs) - len(problems)} of {len(programs)} pending programs are still accepted")
    return 1 if problems or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
