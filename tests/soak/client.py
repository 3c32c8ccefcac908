"""What clients of the soak have in common: where their servers are, and values."""
import array
import socket
import ssl
import struct

from support.server import Line

MIB = 1 << 20


def value(elements):
    """A one-dimensional array of i32 in the binary format."""
    data = elements if isinstance(elements, bytes) else array.array("i", elements).tobytes()
    return b"b\x02\x01 i32" + struct.pack("<q", len(data) // 4) + data


def scalar(type_name, number):
    code = {"i32": "<i", "i64": "<q", "f32": "<f"}[type_name]
    return b"b\x02\x00" + type_name.rjust(4).encode() + struct.pack(code, number)


def wrap(number):
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


class Place:
    """Where a server listens, and what it asks of its clients."""

    def __init__(self, server, token=None, certificate=None, loads=True):
        self.path, self.port, self.loads = server.path, server.ports[0], loads
        self.token, self.certificate = token, certificate

    def raw(self, kind):
        if kind == "unix":
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(120)
            sock.connect(self.path)
            return sock
        sock = socket.create_connection(("127.0.0.1", self.port), 120)
        if kind == "tcp" and self.certificate:
            context = ssl.create_default_context(cafile=self.certificate)
            sock = context.wrap_socket(sock, server_hostname="127.0.0.1")
        return sock


class Client:
    """One worker's way to a server, and its source of randomness."""

    def __init__(self, place, rng, name):
        self.place, self.rng, self.name = place, rng, name
        self.counter = 0

    def connect(self):
        line = Line(self.place.raw(self.rng.choice(["unix", "tcp"])))
        if self.place.token:
            expect(line.ask("auth " + self.place.token) == [], "the token is not taken")
        return line

    def fresh(self, what="v"):
        self.counter += 1
        return f"{what}_{self.name}_{self.counter}"

    def block(self, most):
        """Elements, and how often they are repeated."""
        count = self.rng.randint(0, 1024)
        elements = [self.rng.randint(-(1 << 31), (1 << 31) - 1) for _ in range(count)]
        repeats = self.rng.randint(1, max(1, most // (4 * max(1, count))))
        return elements, repeats


def bytes_of(elements, repeats):
    return array.array("i", elements).tobytes() * repeats
