"""kenaz.dask: three workers on this machine, each with a server. Nothing here depends on how long
anything takes. (No test_..: it has a test of its own in CMakeLists.txt.)"""
import contextlib
import functools
import io
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import dask
import kenaz
import kenaz.dask
import numpy as np
from distributed import Client, wait
from kenaz.dask import call, put

from support import DEVICE, HERE, OPTIONS, PROGRAM, SERVER, Listening

EXAMPLES = HERE.parent.parent / "examples"
sys.path.append(str(EXAMPLES))
import dask_statistics  # noqa: E402

PATIENCE = 120      # seconds, for what takes a few
MEMORY = 20 << 20   # bytes of a worker's device; half of it for values that last


def kind(value):
    """What a task gets, and what type the program would give it."""
    return type(value).__name__, getattr(value, "type", str(getattr(value, "dtype", "")))


def join(url, worker):
    """A session of its own for each worker, on a server that none of them started."""
    return kenaz.connect(url)


def kill_server(dask_worker):
    dask_worker.plugins["kenaz"].server._connection.child.process.kill()


class Cluster(unittest.TestCase):
    """Starting one takes longest, so that there is one for all of this."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kenaz_dask_")
        self.addCleanup(scratch.cleanup)
        self.enterContext(dask.config.set(temporary_directory=scratch.name))
        os.environ["KENAZ_SERVER"] = str(SERVER)  # the workers' environment, too
        self.cluster = self.enterContext(dask_statistics.local_cluster(MEMORY))
        self.client = self.enterContext(Client(self.cluster))
        self.client.register_plugin(kenaz.dask.KenazPlugin(PROGRAM, options=OPTIONS))
        self.addresses = sorted(self.client.scheduler_info()["workers"])

    def test_all_of_it(self):
        for part in (self.values_stay_and_move, self.records_and_sums_move_in_parts,
                     self.what_cannot_move_is_refused, self.failures_are_the_tasks,
                     self.servers_elsewhere, self.servers_that_die, self.the_example):
            with self.subTest(part.__name__):
                part()

    def run_on(self, k, function, *args, **more):
        """A future of the k-th worker."""
        return self.client.submit(function, *args, workers=[self.addresses[k]], pure=False, **more)

    def get(self, k, function, *args, **more):
        return self.run_on(k, function, *args, **more).result(PATIENCE)

    def values_stay_and_move(self):
        xs = np.arange(100, dtype=np.float32)
        here = self.run_on(0, put, xs)
        wait(here, PATIENCE)
        self.assertEqual(self.client.nbytes(summary=False)[here.key], xs.nbytes)
        self.assertEqual(self.get(0, kind, here), ("Array", "[]f32"))
        self.assertEqual(self.get(1, kind, here), ("ndarray", "float32"))
        self.assertEqual(self.get(2, call, "dot", here, here), np.dot(xs, xs))
        self.assertEqual(here.result(PATIENCE).tobytes(), xs.tobytes())
        total = self.get(1, call, "total", np.arange(5))
        self.assertEqual((type(total), total), (np.int64, 10))

    def records_and_sums_move_in_parts(self):
        pair = self.run_on(0, call, "divide", 7, 2)
        self.assertEqual(self.get(0, kind, pair)[0], "Record")
        self.assertEqual(self.get(1, kind, pair)[0], "dict")
        self.assertEqual(pair.result(PATIENCE), {"quotient": 3, "rest": 1})
        swapped = self.run_on(0, call, "swap", (1, True))
        self.assertEqual(self.get(0, kind, swapped)[0], "Record")
        self.assertEqual(swapped.result(PATIENCE), (True, 1))
        points = self.run_on(0, call, "points", 3)
        self.assertEqual(self.get(0, kind, points)[0], "RecordArray")
        moved = points.result(PATIENCE)
        self.assertEqual(moved["x"].tolist(), [0, 1, 2])
        size = sum(column.nbytes for column in moved.values())
        self.assertEqual(self.client.nbytes(summary=False)[points.key], size)
        self.assertEqual(self.get(1, call, "centre", points)["x"], 1)
        circle = self.run_on(0, call, "circle", 1, 2, 3)
        for worker in (0, 1):
            self.assertEqual(self.get(worker, call, "radius", circle), 3)

    def what_cannot_move_is_refused(self):
        sides = self.run_on(0, call, "sides", 3)
        self.assertEqual(self.get(0, call, "lefts", sides), 2)
        with self.assertRaisesRegex(TypeError, r"\[\]side cannot leave its device"):
            self.get(1, call, "lefts", sides)

    def failures_are_the_tasks(self):
        error = self.run_on(0, call, "divide", 1, 0).exception(PATIENCE)
        self.assertIsInstance(error, kenaz.ProgramError)
        self.assertEqual(error.message, "division by zero")
        error = self.run_on(0, call, "nosuch").exception(PATIENCE)
        self.assertRegex(str(error), "^the program has no entry point nosuch; it has ")
        error = self.run_on(0, put, "words").exception(PATIENCE)
        self.assertIsInstance(error, TypeError)
        error = self.run_on(0, call, "total", [1], server_name="nosuch").exception(PATIENCE)
        self.assertRegex(str(error), "^the worker has no plugin 'nosuch'")

    def servers_elsewhere(self):
        listening = Listening()
        self.addCleanup(listening.close)
        self.client.register_plugin(
            kenaz.dask.KenazPlugin(functools.partial(join, listening.unix), name="other"))
        values = [self.run_on(k, put, [k], server_name="other") for k in range(3)]
        for k in range(3):
            total = self.get(k, call, "total", values[k], server_name="other")
            self.assertEqual((type(total), total), (np.int64, k))
        with self.assertRaisesRegex(ValueError, "the value belongs to another server"):
            self.get(0, call, "total", values[0])
        self.client.unregister_worker_plugin("other")

    def servers_that_die(self):
        """Their workers end, and what was on their devices is computed anew: whether it is a call
        that notices it, or what is to be moved."""
        totals = self.without_a_server(lambda parts: self.client.map(
            lambda xs: call("total", xs), parts, pure=False))
        self.assertEqual(totals, [10 * i for i in range(9)])
        arrays = self.without_a_server(lambda parts: parts)
        self.assertEqual([xs.tolist() for xs in arrays], [[i] * 10 for i in range(9)])

    def without_a_server(self, use):
        parts = [self.client.submit(put, np.full(10, i, np.int64), pure=False) for i in range(9)]
        wait(parts, PATIENCE)
        (holder, *_), = self.client.who_has(parts[:1]).values()
        self.client.run(kill_server, workers=[holder])
        results = self.client.gather(use(parts))
        self.client.wait_for_workers(3, PATIENCE)
        self.assertNotIn(holder, self.client.scheduler_info()["workers"])
        return results

    def the_example(self):
        """More data than the devices hold, and a worker that dies in the middle."""
        partitions, size = 24, 400_000  # 38 MB, for three times MEMORY
        words = ["--device", DEVICE, "--kill", "--scheduler", self.cluster.scheduler_address,
                 "--memory", str(MEMORY), "--partitions", str(partitions), "--size", str(size)]
        output = io.StringIO()
        with mock.patch("sys.argv", ["dask_statistics.py", *words]), \
                contextlib.redirect_stdout(output):
            dask_statistics.main()
        lines = output.getvalue().splitlines()
        data = np.concatenate([np.random.default_rng(i).gamma(2, 50, size).astype(np.float32)
                               for i in range(partitions)])
        low, high = data.min(), data.max()
        self.assertRegex(lines[0], "^killed the worker tcp://127.0.0.1:")
        first = (f"{len(data)} readings from {low} to {high}, "
                 f"mean {data.mean(dtype=np.float64):.6f}")
        self.assertEqual(lines[1], first)
        scale = np.float32(40) / (high - low)
        counts = np.bincount(np.minimum(39, ((data - low) * scale).astype(np.int64)), minlength=40)
        self.assertEqual([int(line.split()[1]) for line in lines[2:]], counts.tolist())


class Plugins(unittest.TestCase):
    def test_texts_go_along(self):
        with tempfile.TemporaryDirectory(prefix="kenaz_dask_") as folder:
            pathlib.Path(folder, "lib").mkdir()
            pathlib.Path(folder, "lib/more.fut").write_text("def more (x: i32) = x + 1\n")
            pathlib.Path(folder, "p.fut").write_text('import "lib/more"\nentry next x = more x\n')
            plugin = kenaz.dask.KenazPlugin(folder + "/p.fut", files=["lib/more.fut"],
                                            server=str(SERVER), options=OPTIONS)

        class Worker:
            local_directory = None
        with plugin._begin(Worker()) as server:
            self.assertEqual(int(server.next(41)), 42)

    def test_wrong_uses(self):
        with self.assertRaisesRegex(TypeError, "not for a function"):
            kenaz.dask.KenazPlugin(lambda worker: None, device="cpu")
        with self.assertRaises(FileNotFoundError):
            kenaz.dask.KenazPlugin("nosuch.fut")
        with self.assertRaisesRegex(RuntimeError, "it is for workers"):
            kenaz.dask.KenazPlugin(PROGRAM).server


if __name__ == "__main__":
    unittest.main()
