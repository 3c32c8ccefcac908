"""Streams of bytes to a server: sockets, TLS, and servers started as a subprocess."""

from __future__ import annotations

import os
import pathlib
import select
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
from typing import IO, Any, Callable, List, Optional, Sequence, Tuple, Union

from ._errors import CompileError, ConnectionLost, ServerError

TLS = Union[None, bool, str, "os.PathLike[str]", ssl.SSLContext]
_PIECES = 512       # of one sendmsg; systems allow 1024
_AT_A_TIME = 1 << 20


class Address:
    """Where a server listens: tcp://HOST:PORT, tls://HOST:PORT, unix://PATH."""

    def __init__(self, url: str, tls: TLS = None) -> None:
        scheme, found, rest = url.partition("://")
        if not found or scheme not in ("tcp", "tls", "unix") or not rest:
            raise ValueError(f"{url!r} is no address: tcp://HOST:PORT, tls://HOST:PORT, unix://PATH")
        self.url = url
        self.path = rest if scheme == "unix" else ""
        self.host, self.port = "", 0
        if not self.path:
            host, _, port = rest.rpartition(":")
            if not host or not port.isdigit():
                raise ValueError(f"{url!r} is no address: the port is missing")
            if int(port) > 65535:
                raise ValueError(f"{url!r} is no address: a port is a number up to 65535")
            self.host, self.port = host.strip("[]"), int(port)
        self.context = _context(tls if tls is not None else scheme == "tls")
        if self.path and self.context is not None:
            raise ValueError("there is no TLS on Unix sockets")


def _context(tls: TLS) -> Optional[ssl.SSLContext]:
    if isinstance(tls, ssl.SSLContext):
        return tls
    if tls is None or tls is False:
        return None
    return ssl.create_default_context(cafile=None if tls is True else os.fspath(tls))


def dial(address: Address, timeout: Optional[float]) -> socket.socket:
    """A connection; raises ConnectionLost. `timeout` in seconds is for this alone."""
    sock: Optional[socket.socket] = None
    try:
        if address.path:
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(timeout)
            sock.connect(address.path)
        else:
            sock = socket.create_connection((address.host, address.port), timeout)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as e:
        if sock is not None:
            sock.close()
        raise ConnectionLost(f"cannot connect to {address.url}: {e.strerror or e}") from e
    return sock


class Child:
    """A server that was started here; it ends when its socket is closed."""

    def __init__(self, command: Sequence[str]) -> None:
        self.log_file: IO[bytes] = tempfile.TemporaryFile()
        self._last_log = ""
        ours, theirs = socket.socketpair()
        try:
            self.process = subprocess.Popen(command, stdin=theirs.fileno(),
                                            stdout=theirs.fileno(), stderr=self.log_file)
        except OSError as e:
            ours.close()
            self.log_file.close()
            raise ServerError(f"cannot start {command[0]}: {e.strerror or e}") from e
        finally:
            theirs.close()
        self.socket = ours

    def log(self) -> str:
        """What it wrote to standard error."""
        if self.log_file.closed:
            return self._last_log
        size = os.fstat(self.log_file.fileno()).st_size
        return os.pread(self.log_file.fileno(), size, 0).decode("utf-8", "replace")

    def refused(self) -> ServerError:
        """For one that has ended before it greeted."""
        code = self.process.wait()
        text = self.log().strip() or f"the server ended with status {code}"
        return CompileError(text) if code == 2 else ServerError(text)

    def ending(self) -> str:
        """How one did that no longer answers; kills it if it has not ended."""
        try:
            code = self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        how = f"killed by signal {-code}" if code < 0 else f"ended with status {code}"
        log = self.log().strip()[-2000:]
        return f"the server was {how}" if code < 0 else f"the server {how}" + (
            f": {log}" if log and code else "")

    def finish(self, seconds: float = 10) -> None:
        """After its socket is closed: waits for its end."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._last_log = self.log()
        self.log_file.close()


def server_command(program: Union[str, "os.PathLike[str]"], *, server: Optional[str],
                   device: Optional[str], reference: bool, options: Sequence[str]) -> List[str]:
    """What starts a server on a program. `server`, or $KENAZ_SERVER, or beside the package, or on
    PATH."""
    beside = pathlib.Path(__file__).parent / "bin" / "kenaz-server"
    found = server or os.environ.get("KENAZ_SERVER")
    if not found:
        found = str(beside) if beside.exists() else shutil.which("kenaz-server")
    if not found:
        raise ServerError("there is no kenaz-server on PATH; say where it is by server=.. or by the "
                          "environment variable KENAZ_SERVER")
    command = [found]
    if reference:
        command.append("--reference")
    if device is not None:
        command += ["--device", device]
    return [*command, *options, os.fspath(program)]


def _poll(sock: socket.socket, read: bool, write: bool,
          timeout: Optional[float] = None) -> Tuple[bool, bool]:
    """Waits until it can receive, or send. Not select(), which is for small numbers of files."""
    poll = select.poll()
    poll.register(sock, (select.POLLIN if read else 0) | (select.POLLOUT if write else 0))
    events = sum(event for _, event in poll.poll(None if timeout is None else 1000 * timeout))
    over = bool(events & (select.POLLERR | select.POLLHUP))
    return (read and (over or bool(events & select.POLLIN)),
            write and (over or bool(events & select.POLLOUT)))


class Stream:
    """A connected socket. One thread may receive while another sends."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        # Waits for bytes; 0 at the end. The socket's own, so that nothing stands between.
        self.receive_into: Callable[[memoryview], int] = sock.recv_into

    def set_timeout(self, seconds: Optional[float]) -> None:
        """How long one receive may wait; None: as long as it takes."""
        self._sock.settimeout(seconds)

    def send_some(self, parts: List[Any], wait: bool) -> int:
        """How many bytes of `parts` went; 0 if none can now and it is not to wait."""
        flags = 0 if wait else socket.MSG_DONTWAIT
        try:
            if len(parts) == 1:
                return self._sock.send(parts[0], flags)
            return self._sock.sendmsg(parts[:_PIECES], (), flags)
        except BlockingIOError:
            return 0

    def ready(self, read: bool, timeout: Optional[float] = None) -> Tuple[bool, bool]:
        """Waits until it can send, or, with `read`, receive."""
        return _poll(self._sock, read, True, timeout)

    def close(self) -> None:
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._sock.close()


class TlsStream(Stream):
    """OpenSSL's connections are for one thread at a time: each step has a lock, and waits without
    it."""

    def __init__(self, sock: socket.socket, address: Address) -> None:
        assert address.context is not None
        try:
            self._tls = address.context.wrap_socket(sock, server_hostname=address.host)
        except OSError as e:
            sock.close()
            raise ConnectionLost(f"no TLS with {address.url}: {e}") from e
        super().__init__(self._tls)
        self.receive_into = self._receive_into
        self._tls.settimeout(0)
        self._lock = threading.Lock()
        self._timeout: Optional[float] = None

    def set_timeout(self, seconds: Optional[float]) -> None:
        self._timeout = seconds

    def _receive_into(self, view: memoryview) -> int:
        while True:
            with self._lock:
                try:
                    return self._tls.recv_into(view)
                except ssl.SSLWantReadError:
                    want_write = False
                except ssl.SSLWantWriteError:
                    want_write = True
                except ssl.SSLZeroReturnError:
                    return 0
            if not any(_poll(self._tls, True, want_write, self._timeout)):
                raise TimeoutError("timed out")

    def send_some(self, parts: List[Any], wait: bool) -> int:
        while True:
            with self._lock:
                try:
                    return self._tls.send(memoryview(parts[0])[:_AT_A_TIME])
                except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
                    if not wait:
                        return 0
            _poll(self._tls, False, True)

    def ready(self, read: bool, timeout: Optional[float] = None) -> Tuple[bool, bool]:
        if read and self._tls.pending():
            return True, False
        return super().ready(read, timeout)
