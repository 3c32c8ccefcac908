#!/usr/bin/env python3
"""Statistics of a data set that no device holds alone, on the workers of a Dask cluster:

    dask_statistics.py [--device NAME] [--scheduler ADDRESS] [--memory BYTES]
                       [--partitions N] [--size N] [--kill]

Needs the package kenaz with Dask (pip install kenaz[dask]) and kenaz-server on PATH. Without a
scheduler's address it starts three workers here; --kill ends one of them in the middle, and the
result is the same. docs/scaling.md explains it."""
from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import signal
from typing import Any, Iterator, List

import dask
import kenaz.dask
import numpy as np
from dask.utils import parse_bytes
from distributed import Client, Future, LocalCluster
from kenaz.dask import call

BINS = 40


def load(number: int, size: int) -> Any:
    """A partition of the data set, on the worker's device. This one is made up; others are read
    from a part of a file. It must be the same whenever, and wherever, it is loaded."""
    readings = np.random.default_rng(number).gamma(2, 50, size).astype(np.float32)
    return kenaz.dask.put(readings)


def reduced(client: Client, entry: str, parts: List[Future]) -> Future:
    """Of neighbours one, again and again, until one is left."""
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2])
        odd = parts[-1:] if len(parts) % 2 else []
        parts = [client.submit(call, entry, a, b) for a, b in pairs] + odd
    return parts[0]


@contextlib.contextmanager
def local_cluster(memory: int) -> Iterator[LocalCluster]:
    """Three workers on this machine, for as many devices. Of the values of its tasks, a worker
    writes to disk what exceeds its memory: here the half of what its server may use, so that calls
    have room."""
    own = "distributed.worker.memory."
    with dask.config.set({own + "target": 0.5, own + "spill": False, own + "pause": False,
                          own + "terminate": False}), LocalCluster(
            n_workers=3, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
            memory_limit=memory) as cluster:
        yield cluster


def kill_a_worker(client: Client) -> None:
    """As if its machine had lost power."""
    address, process = sorted(client.run(os.getpid).items())[0]
    os.kill(process, signal.SIGKILL)
    print(f"killed the worker {address}")


def statistics(client: Client, partitions: int, size: int, kill: bool) -> None:
    # They stay on the devices, since the list refers to them: the second pass reads nothing.
    data = [client.submit(load, i, size) for i in range(partitions)]
    summary = reduced(client, "both", [client.submit(call, "summary", p) for p in data]).result()
    low, high = np.float32(summary["low"]), np.float32(summary["high"])
    counts = [client.submit(call, "histogram", BINS, low, high, p) for p in data]
    if kill:
        kill_a_worker(client)
    histogram = reduced(client, "add", counts).result()
    print(f"{summary['count']} readings from {low} to {high}, "
          f"mean {summary['sum'] / summary['count']:.6f}")
    for k, count in enumerate(histogram):
        at = low + (high - low) * k / BINS
        print(f"{at:8.2f} {count:10} {'#' * int(50 * count / histogram.max())}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", help="of the workers' servers")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a cluster that runs")
    parser.add_argument("--memory", default="4GiB", help="of a device, for a worker's server")
    parser.add_argument("--partitions", type=int, default=24)
    parser.add_argument("--size", type=int, default=1 << 20, help="elements of a partition")
    parser.add_argument("--kill", action="store_true")
    args = parser.parse_args()
    limit = parse_bytes(args.memory)
    plugin = kenaz.dask.KenazPlugin(pathlib.Path(__file__).with_suffix(".fut"), device=args.device,
                                    options=["--memory-limit", str(limit)])
    with contextlib.ExitStack() as stack:
        cluster = args.scheduler or stack.enter_context(local_cluster(limit))
        client = stack.enter_context(Client(cluster))
        client.register_plugin(plugin)
        statistics(client, args.partitions, args.size, args.kill)


if __name__ == "__main__":
    main()
