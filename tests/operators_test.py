#!/usr/bin/env python3
"""What those who run a server get: its log, figures of entry points, sessions, and the end of a call
that lasts.

    operators_test.py SERVER [OPTION..]     e.g. --device cpu"""
import os
import re
import signal
import stat
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from support.cases import WithServers  # noqa: E402

SERVER = []
PROGRAM = """
entry twice (x: i32): i32 = 2 * x
entry quotient (x: i32) (y: i32): i32 = x / y
entry endless (x: i32): i32 = loop x while x >= 0 do (x + 1) & 0xff
"""


class Operators(WithServers):
    def setUp(self):
        super().setUp()
        self.program = self.write("p.fut", PROGRAM)

    def start(self, *options):
        return self.serve([*SERVER, *options, self.program])

    def connect(self, server):
        line = self.join(server)
        line.upload("one", "i32", b"b\x02\x00 i32\x01\0\0\0")
        line.upload("none", "i32", b"b\x02\x00 i32\0\0\0\0")
        return line

    def test_the_log_has_a_line_for_each_call(self):
        server = self.start("--log-level", "info")
        self.assertRegex(server.log().splitlines()[0],
                         rf"kenaz-server \d+\.\d+\.\d+ serves {re.escape(self.program)}$")
        line = self.connect(server)
        line.request("call twice x one")
        line.ask("call quotient y one none")
        line.ask("call nosuch\x1b[31m y")
        peer = rf"connection 1 from process {os.getpid()} of user \d+: session 1: "
        start = peer + re.escape(self.program)
        for text in [r": call twice: \d+ us, ok",
                     r": call quotient: \d+ us, failed: Error: division by zero",
                     r": call nosuch\?\[31m: not run, failed: Unknown entry point: nosuch\?\[31m"]:
            self.eventually(lambda text=text: re.search(start + text + "$", server.log(), re.M))

    def test_without_being_asked_the_log_has_no_calls(self):
        server = self.start()
        self.connect(server).request("call twice x one")
        self.assertEqual(server.stop(), 0)
        self.assertNotIn("call twice", server.log())
        self.assertIn("ending:", server.log())

    def test_figures_of_entry_points_are_in_the_metrics_file(self):
        path = os.path.join(self.folder, "metrics")
        server = self.start("--metrics-file", path)
        line = self.connect(server)
        line.request("call twice x one")
        line.request("call twice y one")
        line.ask("call quotient z one none")
        line.ask("call nothing z")
        line.ask("restore /nowhere/to/be/found x i32")
        failures = {name: number for name, number in server.stats(line).items() if "failures_" in name}
        self.assertEqual((failures.pop("failures_program_total"),
                          failures.pop("failures_bad_request_total")), (1, 2))
        self.assertEqual(set(failures.values()), {0})
        self.assertEqual(server.stop(), 0)
        with open(path) as file:
            text = file.read()
        self.assertIn('kenaz_failures_total{kind="program"} 1\n', text)
        for figure, entry, count in [("calls", "quotient", 1), ("calls", "twice", 2),
                                     ("failures", "quotient", 1), ("failures", "twice", 0)]:
            self.assertIn(f'kenaz_entry_{figure}_total{{program="p",entry="{entry}"}} {count}\n', text)
        self.assertRegex(text, r'kenaz_entry_seconds_total{program="p",entry="twice"} [0-9.e-]+\n')

    def test_figures_follow_a_link_and_go_into_no_pipe(self):
        path, link = os.path.join(self.folder, "metrics"), os.path.join(self.folder, "link")
        os.symlink("metrics", link)
        open(path, "w").close()
        server = self.start("--metrics-file", link)
        self.assertEqual(server.stop(), 0)
        self.assertTrue(os.path.islink(link))
        self.assertGreater(os.path.getsize(path), 0)
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        server = self.start("--metrics-file", pipe)
        self.connect(server).request("call twice x one")
        self.assertEqual(server.stop(), 0)
        self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))
        self.assertIn("figures go to plain files only", server.log())

    def test_told_to_end_twice_it_ends_well(self):
        for pause in (0, 0, 0, 0.0005, 0.0005, 0.001, 0.001, 0.002):
            server = self.start()
            server.process.send_signal(signal.SIGTERM)
            time.sleep(pause)
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.process.wait(20), 0)
            self.assertFalse(os.path.exists(server.path))
            server.scratch.cleanup()

    def test_a_call_is_cancelled_from_another_connection(self):
        server = self.start()
        line, operator = self.connect(server), self.connect(server)
        line.send(b"call endless x one\n")

        def running():
            return re.search(r'^1 (\w{32}) "" "connection 1 .*" 2 8 endless \d+$',
                             "\n".join(operator.request("sessions")), re.M)
        token = self.eventually(running)[1]
        operator.request("cancel " + token)
        reply = line.read_reply()
        self.assertIn("Error: the call was cancelled.", "\n".join(map(str, reply)))
        line.request("call twice x one")  # the next one is not
        self.assertIn("The session runs no call.", str(operator.ask("cancel " + token)))
        self.assertIn("No session has this token.", str(operator.ask("cancel 1")))


if __name__ == "__main__":
    SERVER = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
