#!/usr/bin/env python3
"""installed_test.py BUILD SERVER CXX: installs the client library into a temporary folder, builds a small
project against it there, with CMake and with pkg-config, and runs that. The library must need
nothing that only the command line uses."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
NOT_NEEDED = ("libpng", "libjpeg", "libedit", "libspdlog")


def output(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}:\n{done.stdout}")
    return done.stdout


def install(build, folder):
    """Elsewhere than it was installed: nothing may remember where that was."""
    output("cmake", "--install", build, "--prefix", folder / "first", "--component", "library")
    shutil.move(folder / "first", folder / "prefix")
    return folder / "prefix"


def with_cmake(prefix, folder, cxx):
    output("cmake", "-S", HERE, "-B", folder / "built", f"-DCMAKE_PREFIX_PATH={prefix}",
           f"-DCMAKE_CXX_COMPILER={cxx}")
    output("cmake", "--build", folder / "built")
    return folder / "built" / "consumer"


def with_pkg_config(prefix, folder, cxx):
    where = next(prefix.rglob("kenaz.pc")).parent
    flags = output("pkg-config", "--cflags", "--libs", "kenaz",
                   env={**os.environ, "PKG_CONFIG_PATH": str(where)}).split()
    output(cxx, "-std=c++20", HERE / "consumer.cc", "-o", folder / "consumer", *flags)
    return folder / "consumer"


def main():
    build, server, cxx = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "squares.fut"
        program.write_text("entry squares (xs: []f64): []f64 = map (\\x -> x * x) xs\n")
        prefix = install(build, folder)
        for make in (with_cmake, with_pkg_config):
            consumer = make(prefix, folder, cxx)
            printed = output(consumer, server, program)
            if printed != "1 4 9 \n":
                sys.exit(f"{make.__name__}: the program prints {printed!r}")
            libraries = output("ldd", consumer)
            for library in NOT_NEEDED:
                if library in libraries:
                    sys.exit(f"{make.__name__}: the program needs {library}")


if __name__ == "__main__":
    main()
