"""Tests of random programs, one for each seed: their options, and the running of them by `kenaz test`.

    SCRIPT KENAZ SERVER [--seed N] [--programs N] [--device NAME] [--keep FOLDER]"""
import argparse
import os
import subprocess
import tempfile


def options_of(about, device=None):
    """The options of a script. `about`: what its help says; `device`: where programs run if no other one is named."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kenaz")
    parser.add_argument("server")
    parser.add_argument("--seed", type=int, default=1, help="of the first program; the others follow")
    parser.add_argument("--programs", type=int, default=20)
    parser.add_argument("--device", default=device)
    parser.add_argument("--keep", default=None)
    return parser.parse_args()


def run(options, how, name, program, passed=lambda path: None):
    """Tests program(seed) for each seed, with the options `how`, and calls passed(path) for each that passes. Those that
    fail are kept as NAME_SEED.fut, and what was said of them is printed. Returns how many failed."""
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.programs):
            path = os.path.join(options.keep or folder, f"{name}_{seed}.fut")
            with open(path, "w") as file:
                file.write(program(seed))
            done = subprocess.run([options.kenaz, "test", "--server", options.server, *how, path],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                passed(path)
                os.remove(path)
                continue
            failed += 1
            print(f"seed {seed}:\n{done.stdout}{done.stderr}")
    return failed
