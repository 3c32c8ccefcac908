"""Scenarios of clients that make use of what a server has: programs, devices, sessions."""
import time

from soak.client import bytes_of, expect, scalar, value, wrap


def other_programs(client):
    """Values go from one of the server's programs to the other, and back."""
    line = client.connect()
    names = sorted(row.split()[0] for row in line.request("programs"))
    expect(names == ["more", "soak"], names)
    elements, repeats = client.block(4096)
    expect(line.upload("xs", "[]i32", value(bytes_of(elements, repeats))) == [], "upload")
    line.request("call twice ys xs")
    expect("%%% FAILURE" in line.ask("call negated zs ys"), "an entry point of another program")
    expect("%%% FAILURE" in line.ask("program nosuch"), "no such program")
    line.request("program more")
    expect(line.request("entry_points") == ["negated"], "entry_points")
    line.request("call negated zs ys")
    wanted = value(bytes_of([wrap(-2 * x) for x in elements], repeats))
    expect(line.download("zs") == wanted, "negated")
    line.request("program soak")
    line.request("call sum s zs")
    expect(line.download("s") == scalar("i32", wrap(-2 * sum(elements) * repeats)), "sum")
    line.close()


def loaded_programs(client):
    """Of the client's own; some are unloaded, others go with their session, or in the middle."""
    if not client.place.loads:
        return
    line, k = client.connect(), client.rng.randint(-9, 9)
    text = f'import "by"\nentry added (xs: []i32): []i32 = map (+ by) xs\n'
    data = b"".join(b"file %s %d\n%s" % (path, len(content), content) for path, content in [
        (b"main.fut", text.encode()), (b"by.fut", f"def by = {k}i32\n".encode())])
    if client.rng.random() < 0.2:
        data = data.replace(b"by.fut", b"my.fut")
    line.send(f"load own {len(data)}\n".encode() + data)
    if client.rng.random() < 0.2:
        return line.close()
    reply = " ".join(line.read_reply())
    if reply:
        expect("--max-loaded" in reply or b"my.fut" in data and "by.fut" in reply, reply)
        return line.close()
    line.request("program own")
    expect(line.upload("xs", "[]i32", value([1, 2, 3])) == [], "upload")
    line.request("call added ys xs")
    expect(line.download("ys") == value([1 + k, 2 + k, 3 + k]), "added")
    if client.rng.random() < 0.5:
        line.request("unload own")
        expect("%%% FAILURE" in line.ask("call added zs xs"), "what was unloaded is called")
        expect(line.download("ys") == value([1 + k, 2 + k, 3 + k]), "values stay")
    return line.close()


def devices(client):
    """Goes with its values from one device to the next, if there are several."""
    line = client.connect()
    numbers = [row.split()[0] for row in line.request("devices")]
    data = value(client.block(8192)[0])
    expect(line.upload("xs", "[]i32", data) == [], "upload")
    for _ in range(3):
        number = client.rng.choice(numbers)
        line.request(f"device {number}")
        expect(line.request("device") == [number], "device")
        line.request("call twice ys xs")
        line.request("free ys")
    expect("%%% FAILURE" in line.ask(f"device #{len(numbers)}"), "a device that there is not")
    expect(line.download("xs") == data, "what has moved")
    line.close()


def cancelled_calls(client):
    """Others end a call that would not end, by the token of its session."""
    line, other, name = client.connect(), client.connect(), client.fresh("watched")
    line.request("attach " + name)
    line.upload("n", "i64", scalar("i64", 1 << 60))
    expect(line.request("vars") == ["n i64 8"], "vars")
    rows = [row.split() for row in line.request("sessions")]
    token = [row[1] for row in rows if row[2] == name][0]
    expect("%%% FAILURE" in other.ask("cancel " + token), "cancel without a call")
    expect("%%% FAILURE" in other.ask("cancel " + "0" * len(token)), "cancel without a session")
    line.send("call spin x n\n")
    while "%%% FAILURE" in (reply := other.ask("cancel " + token)):
        expect("runs no call" in " ".join(reply), reply)
        time.sleep(0.01)
    expect("cancelled" in " ".join(line.read_reply()), "a call that was cancelled")
    line.request("free n")
    expect(line.request("vars") == [], "vars")
    for one in (line, other):
        one.close()


SERVER_SCENARIOS = [other_programs, loaded_programs, devices, cancelled_calls]
