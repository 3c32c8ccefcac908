#!/usr/bin/env python3
"""Checks the programs in docs/mistakes.md and compares what is said of them with what stands there:

    mistakes_test.py SERVER [--rewrite]

Each section has a program and, behind it, the message. --rewrite writes the messages anew, to be
read before they are committed."""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs", "mistakes.md")
SECTION = re.compile(r"(^## [^\n]*\n\n```futhark\n)(.*?)(```\n\n```text\n)(.*?)(```\n)",
                     re.M | re.S)


def message(server, program):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "main.fut"), "w") as file:
            file.write(program)
        done = subprocess.run([server, "--check", "--types-only", "main.fut"], cwd=folder,
                              capture_output=True, text=True, timeout=60)
    if done.returncode != 2:
        return f"exit code {done.returncode}, where 2 is expected\n{done.stderr}"
    return done.stderr.strip("\n") + "\n"


def main():
    server = os.path.abspath(sys.argv[1])
    with open(PATH) as file:
        text = file.read()
    sections = list(SECTION.finditer(text))
    if len(sections) != text.count("\n## ") or len(sections) < 40:
        sys.exit(f"{PATH}: {len(sections)} sections can be read")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        said = list(pool.map(lambda s: message(server, s[2]), sections))
    if "--rewrite" in sys.argv:
        messages = iter(said)
        with open(PATH, "w") as file:
            file.write(SECTION.sub(lambda s: s[1] + s[2] + s[3] + next(messages) + s[5], text))
        return
    wrong = 0
    for section, got in zip(sections, said):
        if got == section[4]:
            continue
        wrong += 1
        print(f"{section[1].splitlines()[0]}\nexpected:\n{section[4]}\ngot:\n{got}")
    print(f"{len(sections) - wrong} of {len(sections)} messages are those of docs/mistakes.md")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
