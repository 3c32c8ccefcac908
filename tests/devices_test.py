#!/usr/bin/env python3
"""A server with two devices: sessions are spread over them, go from one to the other with their
values, and do not wait for each other.

    devices_test.py SERVER [OPTION..]     e.g. --device cpu: it is taken twice"""
import os
import re
import signal
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support.cases import WithServers  # noqa: E402
from support.server import Line  # noqa: E402

SERVER = []
DEVICE = "cpu"
PROGRAM = """
type point = {x: i32, y: bool}
entry point (x: i32): point = {x, y = x > 0}
entry twice [n] (xs: [n]i32): [n]i32 = map (* 2) xs
entry x_of (p: point): i32 = p.x
entry endless (x: i32): i32 = loop x while x >= 0 do (x + 1) & 0xff
"""
LOADED = b"entry thrice (xs: []i32): []i32 = map (* 3) xs\n"


def number(value):
    return b"b\x02\x00 i32" + struct.pack("<i", value)


def array(values):
    return b"b\x02\x01 i32" + struct.pack(f"<q{len(values)}i", len(values), *values)


class Devices(WithServers):
    def setUp(self):
        super().setUp()
        self.program = self.write("p.fut", PROGRAM)

    def start(self, *options, device=None):
        where = ["--device", device or f"{DEVICE},{DEVICE}"]
        return self.serve([*SERVER, *where, *options, self.program])

    def connect(self, server, want=None):
        line = self.join(server)
        line.upload("one", "i32", number(1))
        line.upload("xs", "[]i32", array(range(1000)))
        if want is not None:
            self.assertEqual(line.request("device"), [want])
        return line

    def test_sessions_are_spread_and_run_at_the_same_time(self):
        path = os.path.join(self.folder, "metrics")
        server = self.start("--log-level", "info", "--metrics-file", path)
        a, b = self.connect(server, "#0"), self.connect(server, "#1")
        for line in a, b:
            line.request("call twice ys xs")
        a.send(b"call endless x one\n")
        operator = self.connect(server)
        running = self.eventually(lambda: re.search(r"^1 (\w{32}) .* endless \d+$",
                                                    "\n".join(operator.request("sessions")), re.M))
        b.request("call twice zs xs")  # meanwhile
        self.assertEqual(b.download("zs"), array([2 * x for x in range(1000)]))
        devices = operator.request("devices")
        self.assertRegex(devices[0], r"^#0 ready [12] 1 \d+ ")
        self.assertRegex(devices[1], r"^#1 ready [12] 0 \d+ ")
        stats = server.stats(b)
        self.assertEqual((stats["device_0_calls_total"], stats["device_1_calls_total"]), (1, 2))
        operator.request("cancel " + running[1])
        self.assertIn("Error: the call was cancelled.", "\n".join(a.read_reply()))
        self.assertEqual(a.download("ys"), b.download("zs"))
        self.assertEqual(server.stop(), 0)
        log = server.log()
        self.assertRegex(log, r"device #0 is \S+[^\n]*\n[^\n]*device #1 is \S+")
        self.assertRegex(log, r"session 1 on #0: \S+p\.fut: call twice: \d+ us, ok")
        self.assertRegex(log, r"session 2 on #1: \S+p\.fut: call twice: \d+ us, ok")
        with open(path) as file:
            text = file.read()
        self.assertRegex(text, r'kenaz_device_calls_total{device="#0",name="[^"]+"} 2\n')
        self.assertRegex(text, r'kenaz_device_calls_total{device="#1",name="[^"]+"} 2\n')

    def test_values_move(self):
        server = self.start()
        line = self.connect(server, "#0")
        big = array(range(3_000_000))
        line.upload("big", "[]i32", big)
        line.request("call point p one")
        line.request("device #1")
        self.assertEqual(line.request("device"), ["#1"])
        self.assertLess(server.stats(line)["device_0_used_bytes"], 100_000)
        self.assertGreater(server.stats(line)["device_1_used_bytes"], len(big) - 100)
        line.request("call x_of x p")
        self.assertEqual(line.download("x"), number(1))
        line.request("call twice ys xs")
        line.request("device #0")
        self.assertEqual(line.download("ys"), array([2 * x for x in range(1000)]))
        self.assertEqual(line.download("big"), big)
        self.assertIn("Unknown device: #2", line.ask("device #2"))

    def test_a_named_session_moves_for_all_who_use_it(self):
        server = self.start()
        first, second = (Line.unix(server.path) for _ in range(2))
        for line in first, second:
            self.addCleanup(line.close)
            line.request("attach together")
        first.upload("xs", "[]i32", array(range(500_000)))
        # Commands of the other wait until the values are there, whatever they do.
        first.send(b"device #1\n")
        second.send(b"call twice ys xs\ndevice\n")
        first.read_reply()
        self.assertNotIn("%%% FAILURE", second.read_reply())
        self.assertEqual(second.read_reply(), ["#1"])
        self.assertEqual(second.download("ys"), array([2 * x for x in range(500_000)]))
        # An upload that has begun keeps the session where it is.
        late = array(range(100))
        second.send(f"upload {len(late)} late []i32\n".encode() + late[:50])
        self.eventually(lambda: "on their way" in str(first.ask("device #0") +
                                                      first.ask("device #1")))
        second.send(late[50:])
        self.assertEqual(second.read_reply(), [])
        self.eventually(lambda: first.ask("device #0") == [])
        self.assertEqual(second.download("late"), late)

    def test_programs_are_loaded_anew_on_all(self):
        server = self.start()
        lines = self.connect(server, "#0"), self.connect(server, "#1")
        for line in lines:
            line.request("call twice ys xs")
        self.write("p.fut", PROGRAM + "entry thrice [n] (xs: [n]i32): [n]i32 = map (* 3) xs\n")
        server.process.send_signal(signal.SIGHUP)
        for line in lines:
            self.eventually(lambda line=line: "thrice" in line.request("entry_points"))
            line.request("call thrice zs xs")
            self.assertEqual(line.download("zs"), array([3 * x for x in range(1000)]))
            self.assertEqual(line.download("ys"), array([2 * x for x in range(1000)]))

    def test_a_program_of_a_client_is_on_the_sessions_device(self):
        server = self.start("--allow-load")
        self.connect(server, "#0")
        line = self.connect(server, "#1")
        head = b"file mine.fut %d\n" % len(LOADED)
        line.send(b"load mine %d\n" % len(head + LOADED) + head + LOADED)
        reply = line.read_reply()
        if "%%% FAILURE" in reply and "seccomp" in server.log():
            self.skipTest("no seccomp here")
        self.assertEqual(reply, [])
        line.request("program mine")
        line.request("call thrice ys xs")
        line.request("device #0")
        line.request("call thrice zs ys")
        self.assertEqual(line.download("zs"), array([9 * x for x in range(1000)]))

    def test_the_server_ends_whatever_runs_on_each_device(self):
        server = self.start("--drain-timeout", "0.1")
        operator = Line.unix(server.path)
        self.addCleanup(operator.close)
        for name in "#0", "#1":
            line = self.connect(server, name)
            line.send(b"call endless x one\n")
            figure = f"device_{name[1]}_calls"
            self.eventually(lambda figure=figure: server.stats(operator)[figure] == 1)
        begin = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - begin, 20)

    def test_lists_of_devices(self):
        server = self.start(device="all")
        self.assertEqual(self.connect(server).request("device"), ["#0"])
        for bad, text in [(f"{DEVICE},", "a device without a name"),
                          (f"all,{DEVICE}", "`all` stands alone"),
                          (f"{DEVICE},nosuchdevice", "nosuchdevice")]:
            done = subprocess.run([*SERVER, "--device", bad, self.program], input=b"",
                                  capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn(text, done.stderr.decode())

    def test_a_server_on_standard_input_has_them_as_well(self):
        commands = b"device\ndevice #1\ndevice\ndevices\n"
        done = subprocess.run([*SERVER, "--device", f"{DEVICE},{DEVICE}", self.program],
                              input=commands, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in done.stdout.decode().splitlines() if line != "%%% OK"]
        self.assertEqual(lines[:2], ["#0", "#1"])
        self.assertRegex(lines[2], "^#0 ready 0 0 ")
        self.assertRegex(lines[3], "^#1 ready 1 0 ")


if __name__ == "__main__":
    SERVER = sys.argv[1:]
    if "--device" in SERVER:
        at = SERVER.index("--device")
        DEVICE = SERVER[at + 1]
        del SERVER[at:at + 2]
    unittest.main(argv=sys.argv[:1])
