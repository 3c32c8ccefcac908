"""Servers made of C programs, which Futhark's compiler writes on one machine and another compiles."""
import concurrent.futures
import gzip
import os
import shlex
import shutil
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def in_one_word(program):
    """A file name for what is made from a program: flat/maps.fut becomes flat-maps."""
    return program.removesuffix(".fut").replace("/", "-")


def written_by_futhark(options, program):
    """Writes a program's C code into the folder. Returns an error, or nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        out = f"{scratch}/server"
        command = shlex.split(options.futhark) + [options.backend, "--server", "-o", out, f"{HERE}/{program}"]
        # The C compiler that Futhark calls last may fail: there need not be CUDA.
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if not os.path.exists(f"{out}.c"):
            return f"{program}: {ran.stdout}"
        with open(f"{out}.c") as source, gzip.open(f"{options.prepare}/{in_one_word(program)}.c.gz", "wt") as packed:
            packed.write(for_this_cuda(source.read()))
    return None


def for_this_cuda(source):
    """CUDA 13 gave cuCtxCreate one more parameter; the older function is still there for older callers."""
    return source.replace(
        "cuCtxCreate(&ctx->cu_ctx, 0, ctx->dev)", "KENAZ_CREATE_CONTEXT(&ctx->cu_ctx, ctx->dev)"
    ).replace(
        "#include <cuda.h>\n",
        "#include <cuda.h>\n"
        "#if CUDA_VERSION >= 13000\n"
        "#define KENAZ_CREATE_CONTEXT(to, device) cuCtxCreate(to, NULL, 0, device)\n"
        "#else\n"
        "#define KENAZ_CREATE_CONTEXT(to, device) cuCtxCreate(to, 0, device)\n"
        "#endif\n",
        1,
    )


def cuda_folder():
    """The folder of the CUDA toolkit, known from its compiler."""
    compiler = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return os.path.dirname(os.path.dirname(os.path.realpath(compiler)))


def compiler_of_c(backend):
    """The command that makes a server of a C file, without the file names."""
    flags = ["-O2", "-w"]
    libraries = ["-lm", "-lpthread"]
    if backend == "cuda":
        cuda = cuda_folder()
        folders = [f"{cuda}/lib64", f"{cuda}/lib", f"{cuda}/lib64/stubs", f"{cuda}/lib/stubs",
                   f"{cuda}/targets/x86_64-linux/lib", f"{cuda}/targets/x86_64-linux/lib/stubs"]
        folders += ["/usr/local/nvidia/lib64", "/usr/lib/x86_64-linux-gnu"]
        flags += [f"-I{cuda}/include"]
        for folder in filter(os.path.isdir, folders):
            libraries += [f"-L{folder}"] + ([] if "stubs" in folder else [f"-Wl,-rpath,{folder}"])
        libraries += ["-lcuda", "-lnvrtc", "-lcudart"]
    compiler = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    if not compiler:
        # nvcc drives a compiler of its own, and passes unknown options on.
        compiler = f"{cuda_folder()}/bin/nvcc"
        flags = [flag for flag in flags if flag != "-w"]
        libraries = [f"-Xlinker={word[4:]}" if word.startswith("-Wl,") else word for word in libraries]
        libraries = [word for word in libraries if word != "-lpthread"]
    return [compiler] + flags, libraries


def compiled(options, program, folder):
    """Makes a server of a program's C code; with CUDA it is started once, so that its kernels are compiled.
    Returns an error, or nothing."""
    name = in_one_word(program)
    source = f"{options.run}/{name}.c.gz"
    if not os.path.exists(source):
        return f"{program}: there is no {source}"
    with gzip.open(source, "rb") as packed, open(f"{folder}/{name}.c", "wb") as plain:
        shutil.copyfileobj(packed, plain)
    first, last = compiler_of_c(options.backend)
    command = first + [f"{folder}/{name}.c", "-o", f"{folder}/{name}"] + last
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode != 0:
        return f"{program}: {' '.join(command)}\n{ran.stdout[-2000:]}"
    if options.backend != "c":
        subprocess.run(their_command(options, program, folder), stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=options.limit)
    return None


def their_command(options, program, folder):
    """How Futhark's server is started."""
    name = f"{folder}/{in_one_word(program)}"
    return [name] + ([] if options.backend == "c" else ["--cache-file", f"{name}.cache"])


def compile_all(options, programs, folder):
    """Compiles the C programs side by side. Returns those that failed."""
    start = time.monotonic()
    broken = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def one(program):
            try:
                return compiled(options, program, folder)
            except (OSError, subprocess.TimeoutExpired) as error:
                return f"{program}: {error}"
        for program, error in zip(programs, pool.map(one, programs)):
            if error:
                broken.add(program)
                print(error, flush=True)
    print(f"{len(programs) - len(broken)} of {len(programs)} programs compiled "
          f"in {time.monotonic() - start:.0f} s", flush=True)
    return broken


def prepare(options, programs):
    """Returns the exit status."""
    os.makedirs(options.prepare, exist_ok=True)
    failed = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for error in pool.map(lambda program: written_by_futhark(options, program), programs):
            if error:
                failed = True
                print(error, flush=True)
    print(f"{len(programs)} programs in {options.prepare}", flush=True)
    return int(failed)
