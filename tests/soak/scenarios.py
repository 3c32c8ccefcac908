"""What clients of the soak do. Each scenario is a function of a Client and leaves no variables in
sessions that others use; one that does not get what it must raises."""
import os
import random
import signal
import socket
import ssl
import struct
import time

from support.server import Line
from soak.client import Client, bytes_of, expect, scalar, value, wrap
from soak.server_scenarios import SERVER_SCENARIOS

MIB = 1 << 20


def check_twice(line, client, elements, repeats):
    xs, ys, total = client.fresh("xs"), client.fresh("ys"), client.fresh("sum")
    sent = value(bytes_of(elements, repeats))
    expect(line.upload(xs, "[]i32", sent) == [], "upload")
    expect(len(line.request(f"call twice {ys} {xs}")) == 1, "call")
    expect(line.download(xs) == sent, "what was uploaded is not what is downloaded")
    doubled = value(bytes_of([wrap(2 * x) for x in elements], repeats))
    expect(line.download(ys) == doubled, "twice")
    line.request(f"call sum {total} {xs}")
    expect(line.download(total) == scalar("i32", wrap(sum(elements) * repeats)), "sum")
    line.request(f"free {xs} {ys} {total}")


def small_values(client):
    line = client.connect()
    for _ in range(client.rng.randint(1, 10)):
        check_twice(line, client, *client.block(4096))
    line.close()


def big_values(client):
    line = client.connect()
    check_twice(line, client, *client.block(client.rng.choice([1, 4, 16]) * MIB))
    line.close()


def failing_calls(client):
    line = client.connect()
    line.upload("xs", "[]i32", value([1, 2, 3]))
    line.upload("far", "i64", scalar("i64", client.rng.choice([-1, 3, 1 << 40])))
    line.upload("near", "i64", scalar("i64", 2))
    line.upload("zero", "i32", scalar("i32", 0))
    for _ in range(client.rng.randint(1, 5)):
        reply = line.ask("call pick x xs far")
        expect("%%% FAILURE" in reply and "out of bounds" in " ".join(reply), reply)
        reply = line.ask("call divided y xs zero")
        expect("%%% FAILURE" in reply and "division by zero" in " ".join(reply), reply)
        line.request("call pick x xs near")
        expect(line.download("x") == scalar("i32", 3), "pick")
        line.request("free x")
    line.close()


def records(client):
    line = client.connect()
    line.upload("x", "i32", scalar("i32", 7))
    line.upload("y", "f32", scalar("f32", 1.5))
    line.request("call pair p x y")
    line.request("project q p 0")
    expect(line.download("q") == scalar("f32", 1.5), "project")
    line.request('new r "(f32, i32)" y x')
    expect(line.download("r") == line.download("p"), "new")
    line.close()


def bad_commands(client):
    """Each line is answered by one reply, whatever it says."""
    line = client.connect()
    rng = client.rng
    for _ in range(rng.randint(1, 20)):
        junk = rng.choice([
            b"", b" ", b"what is this", b"call", b"call twice", b"call twice y nothing", b"free q",
            b"download", b"download nothing", b"shape nothing", b'type "', b"kind (i32,", b"upload",
            b"new a b c", b"index a b 0", b"\x00\xff\x00", b"store /etc/kenaz x", b"attributes z",
            b"restore /etc/passwd x i32",
            bytes(rng.choice(range(1, 256)) for _ in range(50)).replace(b"\n", b"").replace(
                b"upload", b""),
            b"x" * rng.choice([10, 70_000, 1_500_000])])
        line.send(junk + b"\n")
        reply = line.read_reply()
        expect("%%% FAILURE" in reply, f"{junk[:60]!r} is answered by {reply}")
    expect(line.request("inputs twice") == ["[]i32"], "inputs")
    line.close()


def bad_uploads(client):
    line = client.connect()
    good = value([1, 2, 3])
    for _ in range(client.rng.randint(1, 5)):
        data, kind = client.rng.choice([
            (good[:-1], "[]i32"), (good + b"x", "[]i32"), (good, "[]i64"), (good, "i32"),
            (good, "nonsense"), (b"", "[]i32"), (os.urandom(1000), "[]i32"),
            (b"b\x02\x01 i32" + struct.pack("<q", 1 << 60), "[]i32"),
            (b"b\x02\x01 i32" + struct.pack("<q", -1) + b"abcd", "[]i32")])
        reply = line.upload("v", kind, data)
        expect("%%% FAILURE" in reply, f"upload of {data[:30]!r} as {kind}: {reply}")
    expect(line.upload("v", "[]i32", good) == [], "an upload after bad ones")
    expect(line.download("v") == good, "download")
    expect("%%% FAILURE" in line.ask(f"upload {1 << 50} w []i32"), "too large an upload")
    line.close()


def in_doomed_child(client, body, least, most):
    """`body` with a connection in a process that is killed at some time."""
    pid = os.fork()
    if pid == 0:
        try:
            body(client.connect())
            time.sleep(60)
        finally:
            os._exit(0)
    time.sleep(client.rng.uniform(least, most))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def killed_in_upload(client):
    size = client.rng.choice([1, 20]) * MIB
    data = value(bytes(size))

    def body(line):
        line.send(f"upload {len(data)} v []i32\n".encode() + data[:len(data) // 2])
        if client.rng.random() < 0.5:
            line.send(data[len(data) // 2:])

    in_doomed_child(client, body, 0.0, 0.2)


def killed_in_download(client):
    def body(line):
        line.upload("v", "[]i32", value(bytes(8 * MIB)))
        line.send("download v\n")
        line.take(client.rng.randint(1, 4 * MIB))

    in_doomed_child(client, body, 0.0, 0.3)


def gone_at_once(client):
    """Half a line, a command whose reply nobody reads, half a value."""
    for _ in range(client.rng.randint(1, 5)):
        line = client.connect()
        line.upload("xs", "[]i32", value(bytes(client.rng.choice([4, MIB]))))
        line.send(client.rng.choice([b"cal", b"call twice ys xs\n", b"call sums ys xs\n" * 20,
                                     b"upload 1000 w []i32\nb\x02\x01", b"download xs\n"]))
        if client.rng.random() < 0.5:
            line.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        line.close()


def many_connects(client):
    lines = [client.connect() for _ in range(client.rng.randint(2, 20))]
    for line in lines:
        expect(line.request("output sum") == ["i32"], "output")
    for line in lines:
        line.close()


def slow_reader(client):
    line = client.connect()
    data = value(bytes_of(range(1024), 256))
    expect(line.upload("v", "[]i32", data) == [], "upload")
    line.send("download v\n")
    expect(int(line.line()) == len(data), "count")
    got = b""
    while len(got) < len(data):
        got += line.take(min(128 << 10, len(data) - len(got)))
        time.sleep(client.rng.uniform(0, 0.1))
    expect(got == data and line.read_reply() == [], "a slow download")
    line.close()


def slow_writer(client):
    line = client.connect()
    data = value(bytes_of(range(500), 100))
    text = f"upload {len(data)} v []i32\n".encode() + data
    for _ in range(10):
        n = client.rng.randint(1, 200)
        line.send(text[:n])
        text = text[n:]
        time.sleep(client.rng.uniform(0, 0.05))
    line.send(text)
    expect(line.read_reply() == [] and line.download("v") == data, "a slow upload")
    line.close()


def pipelined(client):
    line = client.connect()
    count = client.rng.randint(2, 200)
    data = value(client.block(4096)[0])
    text = b""
    for i in range(count):
        text += f"upload {len(data)} v{i} []i32\n".encode() + data + f"call sum s{i} v{i}\n".encode()
    line.send(text)
    for _ in range(count):
        expect(line.read_reply() == [], "upload")
        expect(line.read_reply()[0].startswith("runtime:"), "call")
    i = client.rng.randrange(count)
    expect(line.download(f"v{i}") == data, "download")
    line.send("inputs sum\noutput sum\nshape v0\n")
    if not isinstance(line.socket, ssl.SSLSocket):
        line.socket.shutdown(socket.SHUT_WR)  # what was asked before is answered
    expect([line.read_reply()[0] for _ in range(3)] ==
           ["[]i32", "i32", str((len(data) - 15) // 4)], "replies")
    line.close()


def named_sessions(client):
    """Several connections of one session, which other workers use, too."""
    name = f"soak{client.rng.randrange(4)}"
    lines = [client.connect() for _ in range(client.rng.randint(2, 4))]
    for line in lines:
        line.request("attach " + name)
    for _ in range(client.rng.randint(1, 5)):
        writer, reader, other = (client.rng.choice(lines) for _ in range(3))
        v, w = client.fresh(), client.fresh()
        data = value(client.block(8192)[0])
        expect(writer.upload(v, "[]i32", data) == [], "upload")
        reader.request(f"call twice {w} {v}")
        expect(other.download(v) == data, "what another connection uploaded")
        writer.request(f"free {v} {w}")
        # A name that all workers fight for.
        for line, command in ((reader, "rename shared mine"), (other, "free shared")):
            line.ask(command)
        reply = writer.upload("shared", "[]i32", data)
        expect(reply == [] or "%%% FAILURE" in reply, reply)
        # Two commands at a time from two connections: both are answered.
        reader.send("types\n")
        other.send("call sum mine shared\n")
        reader.read_reply()
        other.read_reply()
    for line in lines:
        line.close()


def abandoned_session(client):
    """Its variables go when it expires."""
    line = client.connect()
    line.request("attach " + client.fresh("abandoned"))
    expect(line.upload("v", "[]i32", value(bytes(MIB))) == [], "upload")
    line.close()


def wrong_tokens(client):
    if not client.place.token:
        return
    line = Line(client.place.raw("unix"))
    for _ in range(3):
        expect("%%% FAILURE" in line.ask("auth " + "x" * client.rng.randint(1, 50)), "auth")
    expect(line.socket.recv(1) == b"", "the server lets one go on guessing")
    line.close()


def no_tls(client):
    """Other talk on a TLS port, and a handshake that is given up."""
    if not client.place.certificate:
        return
    sock = socket.create_connection(("127.0.0.1", client.place.port), 120)
    sock.sendall(client.rng.choice([b"types\n", os.urandom(300), b"\x16\x03\x01\x00"]))
    sock.close()


SCENARIOS = [small_values, small_values, big_values, failing_calls, records, bad_commands,
             bad_uploads, killed_in_upload, killed_in_download, gone_at_once, many_connects,
             slow_reader, slow_writer, pipelined, named_sessions, named_sessions,
             abandoned_session, wrong_tokens, no_tls, *SERVER_SCENARIOS]


def work(places, seed, until, report):
    """Scenario after scenario; what goes wrong is told to `report`, a pipe's end."""
    rng = random.Random(seed)
    clients = [Client(place, rng, f"{seed}_{i}") for i, place in enumerate(places)]
    counts = {}
    while time.monotonic() < until:
        scenario, client = rng.choice(SCENARIOS), rng.choice(clients)
        try:
            scenario(client)
        except Exception as error:  # pylint: disable=broad-except
            report.send(f"{scenario.__name__} (seed {seed}): {type(error).__name__}: {error}")
            break
        counts[scenario.__name__] = counts.get(scenario.__name__, 0) + 1
    report.send(counts)
