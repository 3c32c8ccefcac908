"""A kenaz-server on sockets, started for a test: where it listens, what memory it has, its end."""
import os
import re
import resource
import signal
import socket
import subprocess
import tempfile
import time


def raise_file_limit():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Waiting:
    """For test cases: waits for what another thread or process does, `patience` seconds at most."""
    patience = 60

    def eventually(self, look, what=""):
        """What `look` gives as soon as that is true."""
        end = time.monotonic() + self.patience
        while not (found := look()):
            self.assertLess(time.monotonic(), end, what() if callable(what) else what)
            time.sleep(0.005)
        return found


class Server:
    """`command`: SERVER OPTION.. PROG.fut. Listens on the URLs given besides a Unix socket in
    `folder`; `ports` has the ports of the TCP ones, in order."""

    def __init__(self, command, listen=("tcp://127.0.0.1:0",), env=None, quiet=True):
        self.scratch = tempfile.TemporaryDirectory(prefix="kenaz_test_")
        self.folder = self.scratch.name
        self.path = os.path.join(self.folder, "socket")
        urls = ["unix://" + self.path, *listen]
        self.log_path = os.path.join(self.folder, "log")
        words = [*command, *(w for url in urls for w in ("--listen", url))]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=log, env=env)
        self.ports = []
        self.quiet = quiet
        self._wait_for_ports(len(listen))

    def _wait_for_ports(self, count, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            found = re.findall(r"listening on (?:tcp|tls)://\S*:(\d+)", self.log())
            if len(found) == count and f"listening on unix://{self.path}" in self.log():
                self.ports = [int(p) for p in found]
                return
            time.sleep(0.02)
        self.process.kill()
        raise RuntimeError("the server did not start:\n" + self.log())

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()

    def rss(self):
        """Bytes of memory in RAM."""
        with open(f"/proc/{self.process.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def stats(self, connection=None):
        """Figures by name, from a connection of its own unless one is given."""
        own = connection or Line.unix(self.path)
        lines = own.request("stats")
        if connection is None:
            own.close()
        return {name: int(number) for name, number in (line.split() for line in lines)}

    def wait_until_idle(self, seconds=30):
        """Until only the asking connection is left; its figures then."""
        end = time.monotonic() + seconds
        while True:
            stats = self.stats()
            if stats["connections"] == 1 and stats["sessions"] <= 1:
                return stats
            if time.monotonic() > end:
                raise RuntimeError(f"connections do not go away: {stats}")
            time.sleep(0.1)

    def stop(self, seconds=60):
        """SIGTERM; the exit status."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "it did not end in time"


class Line:
    """A connection, line by line. `socket` may be used directly for what is not lines."""

    def __init__(self, sock):
        self.socket = sock
        self.buffer = b""
        self.read_reply()

    @classmethod
    def unix(cls, path, timeout=60):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(timeout)
        sock.connect(path)
        return cls(sock)

    @classmethod
    def tcp(cls, port, timeout=60):
        sock = socket.create_connection(("127.0.0.1", port), timeout)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(sock)

    def send(self, text):
        self.socket.sendall(text if isinstance(text, bytes) else text.encode())

    def more(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionError("the server closed the connection")
        self.buffer += data

    def line(self):
        while b"\n" not in self.buffer:
            self.more()
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode(errors="replace")

    def take(self, count):
        pieces, have = [self.buffer], len(self.buffer)
        while have < count:
            data = self.socket.recv(min(1 << 20, count - have))
            if not data:
                raise ConnectionError("the server closed the connection")
            pieces.append(data)
            have += len(data)
        data = b"".join(pieces)
        self.buffer = data[count:]
        return data[:count]

    def read_reply(self):
        """The lines before %%% OK, the failure's marker included."""
        lines = []
        while True:
            line = self.line()
            if line == "%%% OK":
                return lines
            lines.append(line)

    def ask(self, command):
        self.send(command + "\n")
        return self.read_reply()

    def request(self, command):
        lines = self.ask(command)
        if "%%% FAILURE" in lines:
            raise RuntimeError(f"{command}: {lines}")
        return lines

    def upload(self, name, type_name, value):
        self.send(f"upload {len(value)} {name} {type_name}\n".encode() + value)
        return self.read_reply()

    def download(self, name):
        """The bytes, or the failure's lines."""
        self.send(f"download {name}\n")
        first = self.line()
        if first == "%%% FAILURE":
            return [first, *self.read_reply()]
        value = self.take(int(first))
        rest = self.read_reply()
        return rest if rest else value

    def close(self):
        self.socket.close()
