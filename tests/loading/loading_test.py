#!/usr/bin/env python3
"""Programs that clients load: what they can do, and what they cannot, however hostile.

    loading_test.py KENAZ SERVER [OPTION..]     e.g. --device cpu"""
import json
import os
import re
import signal
import subprocess
import sys
import unittest

from loading import (COMMANDS, FAILURE, GOOD, HUNGRY, MORE, PATIENCE, WILD, Loading, archive, array,
                     array64, scalar)
from support.server import Line, Server


class Use(Loading):
    def test_a_program_is_loaded_and_called(self):
        server, line = self.start_with(GOOD, **{"lib/more": MORE})
        self.assertEqual(line.request("entry_points"), ["add", "five", "make", "spin"])
        self.assertEqual(line.request("documentation add"), ["Adds."])
        self.assertEqual(line.request("inputs add"), ["[]i32", "i32"])
        self.assertEqual([p.split()[0::2] for p in line.request("programs")],
                         [["own", "2"], ["it", "4"]])
        line.upload("xs", "[]i32", array(1, 2, 3))
        line.upload("k", "i32", scalar("i32", "i", 4))
        self.assertRegex(line.request("call add ys xs k")[0], r"^runtime: \d+$")
        self.assertEqual(line.download("ys"), array(41, 42, 43))
        line.request("call five f")
        self.assertEqual(line.download("f"), scalar("i32", "i", 5))
        self.assertFails(line.ask("call add zs xs"), "takes 2 inputs, but 1")
        self.assertFails(line.ask("call add zs k xs"), r"Expected \[\]i32, got i32")
        self.assertEqual(line.request("vars"), ["f i32 4", "k i32 4", "xs []i32 12", "ys []i32 12"])

    def test_values_move_between_programs(self):
        server, line = self.start_with(GOOD, **{"lib/more": MORE})
        line.upload("xs", "[]i32", array(1, 2, 3))
        line.request("program own")
        line.request("call twice ys xs")
        line.request("program it")
        line.upload("a", "i32", scalar("i32", "i", 100))
        line.request("call make p a ys")
        line.request("program own")
        line.request("call sum_of s p")
        self.assertEqual(line.download("s"), scalar("i32", "i", 112))
        line.request("unload it")
        self.assertEqual(line.request("type p"), ["pair"])
        line.request("project b p b")
        self.assertEqual(line.download("b"), array(2, 4, 6))

    def test_parameters_are_the_programs(self):
        server, line = self.start_with("entry plus (x: i64): i64 = #[param(step)] x + 2")
        line.upload("x", "i64", scalar("i64", "q", 3))
        self.assertEqual(line.request("tuning_params plus"), ["step"])
        for commands, expected in [([], 5), (["set_tuning_param step 7"], 7), ([], 7),
                                   (["set_tuning_param step 0"], 5)]:
            for command in commands:
                line.request(command)
            line.request("call plus y x")
            self.assertEqual(line.download("y"), scalar("i64", "q", expected))
            line.request("free y")
        self.assertFails(line.ask("set_tuning_param other 7"), "no such parameter")

    def test_large_values_go_in_pieces(self):
        server, line = self.start_with("entry rev (xs: []i32): []i32 = reverse xs")
        xs = range(400_000)
        line.upload("xs", "[]i32", array(*xs))
        line.request("call rev ys xs")
        self.assertEqual(line.download("ys"), array(*reversed(xs)))

    def test_libraries_are_not_among_the_files(self):
        server, line = self.start_with(
            'import "kenaz/sort"\nentry sorted (xs: []i32): []i32 = sort_i32.sort xs')
        line.upload("xs", "[]i32", array(3, 1, 2))
        line.request("call sorted ys xs")
        self.assertEqual(line.download("ys"), array(1, 2, 3))

    def test_errors_are_those_of_the_compiler(self):
        server = self.start()
        line = self.join(server)
        bad = 'import "lib/more"\nentry f (x: i32) = more x + true\n'
        reply = self.load(line, "it", bad, **{"lib/more": MORE})
        folder = os.path.join(self.folder, "bad")
        os.makedirs(os.path.join(folder, "lib"))
        for name, text in [("main.fut", bad), ("lib/more.fut", MORE)]:
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        checked = subprocess.run([COMMANDS["kenaz"], "check", "main.fut"], cwd=folder, text=True,
                                 capture_output=True, env={**os.environ, "NO_COLOR": "1"})
        self.assertEqual(reply[0], FAILURE)
        self.assertIn("main.fut:2", reply[1])
        self.assertEqual("\n".join(reply[1:]).strip(), checked.stderr.strip())
        self.assertFails(line.ask("program it"), "Unknown program")
        self.eventually(lambda: self.workers(server) == [])

    def test_what_is_no_program_is_refused(self):
        server = self.start()
        line = self.join(server)
        self.assertFails(self.load_bytes(line, "it", b""), "no file")
        self.assertFails(self.load_bytes(line, "it", b"entry f = 1"), "file PATH BYTES")
        self.assertFails(self.load_bytes(line, "it", b"file a.fut 9\nentry"), "end before")
        self.assertFails(self.load_bytes(line, "own", archive(MORE)), "itself has a program own")
        self.assertFails(self.load_bytes(line, "n" * 129, archive(MORE)), "1 to 128 bytes")
        self.assertFails(line.ask("unload it"), "No program it")
        self.assertEqual(self.call_own(line, 1), array(2))
        self.assertFails(line.ask(f"load it {(4 << 20) + 1}"), "4194304 are allowed")
        with self.assertRaises(ConnectionError):  # what follows is no command
            line.ask("vars")

    def test_only_where_the_operator_allows_it(self):
        server = Server([*COMMANDS["server"], self.own], listen=())
        self.addCleanup(server.scratch.cleanup)
        self.addCleanup(server.stop)
        line = self.join(server)
        self.assertFails(self.load(line, "it", MORE), "--allow-load")
        self.assertEqual(self.call_own(line, 1), array(2))
        self.assertEqual(self.workers(server), [])

    def test_programs_are_their_sessions(self):
        server, line = self.start_with(GOOD, "--max-loaded", "2", "--max-loaded-each",
                                       "2", **{"lib/more": MORE})
        other = self.join(server)
        self.assertFails(other.ask("program it"), "Unknown program")
        self.assertFails(other.ask("unload it"), "No program it")
        self.assertEqual(self.load(other, "it", "entry other = 1i32"), [])
        other.request("program it")
        self.assertEqual(other.request("entry_points"), ["other"])
        self.assertEqual(line.request("entry_points"), ["add", "five", "make", "spin"])
        third = self.join(server)
        self.assertFails(self.load(third, "it", GOOD), "2 programs .*--max-loaded")
        other.close()  # and with it what it has loaded
        self.eventually(lambda: len(self.workers(server)) == 1)
        self.assertEqual(self.load(third, "it", "entry third = 1i32"), [])
        line.request("unload it")
        self.assertFails(line.ask("entry_points"), "it is not served any more")
        self.eventually(lambda: len(self.workers(server)) == 1)

    def test_nobody_has_all_places(self):
        """Clients on a Unix socket are of one user, those on TCP of one address."""
        server = self.start("--max-loaded", "3", listen=("tcp://127.0.0.1:0",))
        lines = [self.join(server) for _ in range(3)]
        for line in lines[:2]:
            self.assertEqual(self.load(line, "it", "entry f = 1i32"), [])
        self.assertFails(self.load(lines[2], "it", "entry f = 1i32"), "2 programs of yours.*-each")
        self.assertFails(self.load(lines[0], "more", "entry f = 1i32"), "2 programs of yours")
        other = Line.tcp(server.ports[0], PATIENCE)
        self.addCleanup(other.close)
        self.assertEqual(self.load(other, "it", "entry f = 1i32"), [])
        self.assertFails(self.load(other, "more", "entry f = 1i32"), r"3 programs .*--max-loaded\)")
        lines[0].request("unload it")
        self.assertEqual(self.load(lines[2], "it", "entry f = 1i32"), [])

    def test_people_load_in_the_shell(self):
        server = self.start()
        for name, text in [("good.fut", GOOD), ("lib/more.fut", MORE), ("bad.fut", "entry f = y")]:
            self.write(name, text)
        script = ("load mine good.fut\nadd [1, 2] 3\nprogram own\ntwice [4]\nadd [1] 2\n"
                  "load mine bad.fut\nprogram mine\nfive\nunload mine\nfive\nload mine\n"
                  "load mine none.fut\ndevice\n")
        done = subprocess.run([COMMANDS["kenaz"], "shell", "unix://" + server.path], input=script,
                              cwd=self.folder, text=True, stdout=subprocess.PIPE, timeout=PATIENCE)
        self.assertRegex(done.stdout, r"""^\[31i32, 32i32\]
\[8i32\]
error: Unknown command: add
Commands are: .*
error: Error at bad.fut:1:11-12:
Unknown name "y".(?s:.*?)
5i32
error: Unknown command: five
Commands are: .*
error: load NAME FILE
error: \S*/none.fut: .*
#0
$""")
        self.assertEqual(done.returncode, 1)

    def test_each_has_figures(self):
        path = os.path.join(self.folder, "metrics")
        server = self.start("--metrics-file", path, "--profile")
        line, other = self.join(server), self.join(server)
        fails = "entry f (x: i32): i32 = 10 / x\nentry g: i32 = 1"
        for name in ("one", '"an other"'):
            self.assertEqual(self.load(line, name, fails), [])
        for x, name in enumerate(["zero", "two"]):
            line.upload(name, "i32", scalar("i32", "i", 2 * x))
        line.request("program one")
        for _ in range(3):
            line.request("call f y two")
            line.request("free y")
        self.assertFails(line.ask("call f y zero"), "division by zero")
        line.request('program "an other"')
        line.request("call g y")
        stats = server.stats(line)
        self.assertEqual([stats[f"loaded_{name}_{figure}_total"] for name in ("one", "an%20other")
                          for figure in ("calls", "failures")], [4, 1, 1, 0])
        self.assertGreater(stats["loaded_one_call_microseconds_total"], 0)
        self.assertGreater(stats["loaded_one_memory_bytes"], 1 << 20)
        report = json.loads(line.request("report")[0])["loaded"]
        self.assertEqual([(p["name"], p["calls"], p["failures"]) for p in report],
                         [("an other", 1, 0), ("one", 4, 1)])
        self.assertGreater(report[1]["microseconds"], 0)
        self.assertGreater(report[1]["memory"], 1 << 20)
        # They are their session's; the operator's file has those of all.
        self.assertEqual([name for name in server.stats(other) if name.startswith("loaded_")], [])
        self.assertNotIn("loaded", json.loads(other.request("report")[0]))

        def text():
            if not os.path.exists(path):  # it comes with the first look at the time
                return ""
            with open(path) as file:
                return file.read()

        self.eventually(lambda: 'kenaz_loaded_calls_total{number="1",name="one"} 4\n' in text() and
                        'kenaz_loaded_calls_total{number="2",name="an other"} 1\n' in text())
        # A process that has ended has no memory, and what is loaded anew begins anew.
        for worker in self.workers(server):
            os.kill(worker, signal.SIGKILL)
        self.eventually(lambda: server.stats(line)["loaded_one_memory_bytes"] == 0)
        self.assertEqual(self.load(line, "one", fails), [])
        self.assertEqual(server.stats(line)["loaded_one_calls_total"], 0)
        line.request("unload one")
        self.assertNotIn("loaded_one_calls_total", server.stats(line))
        self.eventually(lambda: 'name="one"' not in text())

    def test_a_program_takes_the_place_of_its_former_version(self):
        server, line = self.start_with("entry f = 1i32")
        self.assertEqual(self.load(line, "it", "entry f = 2i32"), [])
        line.request("call f x")
        self.assertEqual(line.download("x"), scalar("i32", "i", 2))
        self.assertFails(self.load(line, "it", "entry f ="), "Error at main.fut")
        line.request("call f y")
        self.assertEqual(line.download("y"), scalar("i32", "i", 2))
        self.eventually(lambda: len(self.workers(server)) == 1)


class Hostile(Loading):
    def test_files_cannot_be_imported(self):
        server = self.start()
        line = self.join(server)
        secret = os.path.join(self.folder, "secret.fut")
        with open(secret, "w") as file:
            file.write("def secret = 42i32")
        for path in [secret[:-4], "../" + secret[1:-4], "../../../../../.." + secret[:-4]]:
            self.assertFails(self.load(line, "it", f'import "{path}"\nentry f = secret'),
                             "not among the files")
        for path in ["/etc/passwd", "../a.fut", "a/../../b.fut"]:
            self.assertFails(self.load_bytes(line, "it", b"file %s 1\nx" % path.encode()),
                             "path is relative")

    def test_a_process_has_nothing_of_the_servers(self):
        server, line = self.start_with(GOOD, **{"lib/more": MORE})
        (worker,) = self.workers(server)
        with open(f"/proc/{worker}/status") as file:
            status = dict(row.split(":\t", 1) for row in file.read().splitlines())
        self.assertEqual((status["Seccomp"], status["NoNewPrivs"]), ("2", "1"))
        opened = {fd: os.readlink(f"/proc/{worker}/fd/{fd}")
                  for fd in os.listdir(f"/proc/{worker}/fd")}
        self.assertEqual({opened[fd] for fd in "012"}, {"/dev/null"})
        sockets = {fd for fd, what in opened.items() if what.startswith("socket:")}
        self.assertEqual(sockets, {"3", "4"})
        files = [what for what in opened.values()
                 if what.startswith("/") and not what.startswith(("/dev/", "/memfd:"))]
        self.assertEqual(files, [])

    def test_wild_addresses_end_its_process_only(self):
        server, line = self.start_with(WILD)
        line.upload("keep", "[]i32", array(1, 2))
        line.upload("is", "[]i64", array64(*(k << 40 for k in range(1, 65))))
        with self.others_go_on(server):
            # The evaluator, and a GPU's driver, may see to it by themselves.
            reply = line.ask("call wild x is")
            if "--reference" in COMMANDS["server"]:
                self.assertFails(reply, "out of bounds")
            elif "cpu" in COMMANDS["server"]:
                self.assertFails(reply, r"The process of the program it ended: signal 11 \(")
        self.assertEqual(line.download("keep"), array(1, 2))
        self.assertEqual(self.load(line, "it", GOOD.replace('import "lib/more"', MORE)), [])
        line.request("call five x")
        self.assertEqual(line.download("x"), scalar("i32", "i", 5))

    def test_a_process_that_dies_is_told_of(self):
        server, line = self.start_with(GOOD, "--max-loaded", "1", **{"lib/more": MORE})
        line.upload("n", "i64", scalar("i64", "q", 1 << 60))
        with self.others_go_on(server):
            line.send("call spin x n\n")
            (worker,) = self.workers(server)
            os.kill(worker, signal.SIGSEGV)
            self.assertFails(line.read_reply(), r"process of the program it ended: signal 11 \(")
            self.assertFails(line.ask("call five x"), "process of the program it ended: signal 11")
        self.assertEqual(line.request("vars"), ["n i64 8"])
        self.assertEqual(self.workers(server), [])  # not even a zombie
        self.assertEqual(self.load(line, "it", "entry f = 2i32"), [])
        line.request("call f x")

    def test_calls_that_do_not_end_are_ended(self):
        server, line = self.start_with(GOOD, "--call-timeout", "0.5", **{"lib/more": MORE})
        line.upload("n", "i64", scalar("i64", "q", 1 << 60))
        with self.others_go_on(server):
            self.assertFails(line.ask("call spin x n"), "Error: the call took|ended: it did not")
        self.assertEqual(self.call_own(self.join(server), 1), array(2))

    def test_calls_can_be_cancelled(self):
        server, line = self.start_with(GOOD, **{"lib/more": MORE})
        (token,) = [row.split()[1] for row in line.request("sessions")]
        line.upload("n", "i64", scalar("i64", "q", 1 << 60))
        line.send("call spin x n\n")
        other = self.join(server)
        self.eventually(lambda: FAILURE not in other.ask(f"cancel {token}"))
        reply = line.read_reply()
        self.assertFails(reply, "the call was cancelled|ended: it did not end in time")
        if "cancelled" not in reply[-1]:  # on a machine that is busy
            self.assertEqual(self.load(line, "it", GOOD, **{"lib/more": MORE}), [])
        line.request("call five x")
        self.assertEqual(line.download("x"), scalar("i32", "i", 5))

    def test_a_process_that_hangs_is_given_up(self):
        server, line = self.start_with(GOOD, "--call-timeout", "0.2", "--load-timeout", "20",
                                       **{"lib/more": MORE})
        (token,) = [row.split()[1] for row in line.request("sessions")]
        (worker,) = self.workers(server)
        os.kill(worker, signal.SIGSTOP)
        # Its threads stop one after the other, on a busy machine some 40 ms later: the call could be
        # answered before.
        self.eventually(lambda: set(self.states(worker)) == {"T"})
        with self.others_go_on(server):
            other, reply = self.join(server), ["cancelled"]
            while "cancelled" in reply[-1]:  # before the process was asked
                line.send("call five x\n")
                self.eventually(lambda: FAILURE not in other.ask(f"cancel {token}"))
                reply = line.read_reply()
            self.assertFails(reply, "process of the program it ended: it did not end")
        self.eventually(lambda: self.workers(server) == [])

    def test_memory_has_a_limit(self):
        server, line = self.start_with(HUNGRY, "--loaded-memory", "64mib")
        with self.others_go_on(server):
            for elements in [1 << 26, 1 << 33, 1 << 60]:
                line.upload("n", "i64", scalar("i64", "q", elements))
                reply = line.ask("call hungry x n")
                self.assertIn(FAILURE, reply)
                if "process of the program" in "\n".join(reply):
                    self.assertEqual(self.load(line, "it", HUNGRY), [])
                line.request("discard n x")
        line.upload("n", "i64", scalar("i64", "q", 10))
        line.request("call hungry x n")
        self.assertEqual(line.download("x"), scalar("i64", "q", 165))

    def test_compilation_has_a_limit(self):
        # 2^30 copies of an expression, unless somebody gives up.
        lines = ["def f0 (x: i32) = x * x + 1"]
        lines += [f"def f{k} (x: i32) = f{k - 1} (f{k - 1} x)" for k in range(1, 31)]
        bomb = "\n".join([*lines, "entry f (xs: []i32) = map f30 xs"])
        server = self.start("--load-timeout", "0.5", "--loaded-memory", "64mib")
        line = self.join(server)
        with self.others_go_on(server):
            self.assertFails(self.load(line, "it", bomb), "process of the program it ended: it ")
        self.eventually(lambda: self.workers(server) == [])

    def test_a_program_that_nobody_waits_for_is_given_up(self):
        server = self.start()
        line = self.join(server)
        data = archive(GOOD, **{"lib/more": MORE})
        line.send(f"load it {len(data)}\n".encode() + data[:-1])
        line.close()
        quick = self.join(server)
        self.assertEqual(self.load_bytes(quick, "it", data), [])
        quick.send(f"load other {len(data)}\n".encode() + data)
        quick.close()
        self.eventually(lambda: self.workers(server) == [] and server.stats()["sessions"] <= 1)


class Ends(Loading):
    def test_the_servers_end_ends_all(self):
        server, line = self.start_with(GOOD, "--drain-timeout", "0", **{"lib/more": MORE})
        line.upload("n", "i64", scalar("i64", "q", 1 << 60))
        line.send("call spin x n\n")
        (worker,) = self.workers(server)
        self.assertEqual(server.stop(), 0)
        self.assertFalse(os.path.exists(f"/proc/{worker}"))

    def test_a_server_that_is_killed_leaves_nothing(self):
        server, line = self.start_with(GOOD, **{"lib/more": MORE})
        line.upload("n", "i64", scalar("i64", "q", 1 << 60))
        line.send("call spin x n\n")
        (worker,) = self.workers(server)
        server.process.kill()
        server.process.wait()

        def is_gone():
            try:
                with open(f"/proc/{worker}/stat") as file:
                    return re.search(r"\) ([XZ])", file.read()) is not None
            except FileNotFoundError:
                return True

        self.eventually(is_gone)

    def test_a_server_without_sockets_loads_as_well(self):
        data = archive("entry f = 2i32")
        commands = f"load it {len(data)}\n".encode() + data + b"program it\ncall f x\ndownload x\n"
        done = subprocess.run([*COMMANDS["server"], "--allow-load", self.own], input=commands,
                              capture_output=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"\n11\n" + scalar("i32", "i", 2) + b"%%% OK\n", done.stdout)


ON_DEVICE = ["Use.test_a_program_is_loaded_and_called", "Use.test_values_move_between_programs",
             "Hostile.test_a_process_has_nothing_of_the_servers",
             "Hostile.test_wild_addresses_end_its_process_only",
             "Hostile.test_a_process_that_dies_is_told_of",
             "Hostile.test_calls_that_do_not_end_are_ended", "Hostile.test_memory_has_a_limit"]

if __name__ == "__main__":
    COMMANDS["kenaz"], *COMMANDS["server"] = sys.argv[1:]
    # Most of it is no matter of the device.
    unittest.main(argv=[sys.argv[0], *([] if "--reference" in COMMANDS["server"] else ON_DEVICE)])
