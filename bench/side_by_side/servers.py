"""The two servers that are measured, and what is asked of them."""
import json
import os
import selectors
import signal
import subprocess
import time

SEED = 1


class Trouble(Exception):
    """Why a row has no time on one side."""


class Server:
    """A process that speaks the server protocol. Replies that come too late end it."""

    def __init__(self, command, log):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                                        start_new_session=True)
        self.buffer = b""

    def end(self):
        """Kills it: what matters has been printed."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, command):
        try:
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Trouble("the server ended") from None

    def line(self, deadline):
        """The next line of a reply."""
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.buffer:
                left = deadline - time.monotonic()
                if left <= 0 or not ready.select(left):
                    raise Trouble("took too long")
                more = os.read(self.process.stdout.fileno(), 65536)
                if not more:
                    raise Trouble("the server ended")
                self.buffer += more
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def reply(self, deadline):
        """The lines of a reply."""
        lines = []
        while (line := self.line(deadline)) != "%%% OK":
            lines.append(line)
        if "%%% FAILURE" in lines:
            raise Trouble(" ".join(lines[lines.index("%%% FAILURE") + 1:])[:200])
        return lines

    def ask(self, command, deadline):
        self.send(command)
        return self.reply(deadline)


class Side:
    """One of the two implementations: its server is started anew for each program, and after it was ended."""

    def __init__(self, name, command, scratch, results):
        self.name = name
        self.command = command
        self.scratch = scratch
        self.results = f"{results}/{name}.results"
        self.program = None
        self.server = None

    def end(self):
        if self.server:
            self.server.end()
        self.server = None

    def start(self, program, deadline):
        """Starts the program's server, unless that is what runs, and frees everything."""
        if self.program != program or not self.server:
            self.end()
            self.program = program
            with open(f"{self.scratch}/{self.name}.log", "wb") as log:
                self.server = Server(self.command(program), log)
            self.server.reply(deadline)
        self.server.ask("clear", deadline)

    def complaint(self):
        """The last line that the server wrote to stderr."""
        with open(f"{self.scratch}/{self.name}.log", errors="replace") as log:
            lines = log.read().split("\n")
        return next((line for line in reversed(lines) if line.strip()), "")

    def variables(self, of, entry, deadline):
        """Names for an entry's outputs."""
        return [f"{of}{i}" for i in range(len(self.server.ask(f"outputs {entry}", deadline)))]

    def measure(self, row, sizes, runs, deadline):
        """Makes the inputs and calls the entry. Returns the run times in microseconds; results are r0, r1, .."""
        names = list(sizes) + ["seed"]
        file = f"{self.scratch}/sizes"
        with open(file, "w") as values:
            values.write("\n".join(f"{value}i64" for value in [*sizes.values(), SEED]) + "\n")
        self.server.ask(f"restore {file} " + " ".join(f"{name} i64" for name in names), deadline)
        inputs = self.variables("in", row.make, deadline)
        self.server.ask(f"call {row.make} {' '.join(inputs + names)}", deadline)
        results = self.variables("r", row.entry, deadline)
        times = []
        for i in range(runs + 1):
            if i > 0:
                self.server.ask(f"free {' '.join(results)}", deadline)
            lines = self.server.ask(f"call {row.entry} {' '.join(results + inputs)}", deadline)
            times.append(int(next(line for line in lines if line.startswith("runtime:")).split()[1]))
            # Slow rows have fewer calls.
            if i >= 1 and sum(times) > 5e6:
                break
        return times[1:], results

    def peak(self, deadline):
        """The most memory that was in use since the row began, in MiB; nothing if the server does not say."""
        try:
            memory = json.loads(" ".join(self.server.ask("report", deadline)))["memory"]
            return max(memory.values()) / (1 << 20) or None
        except (ValueError, KeyError):
            return None
