# SPDX-License-Identifier: Apache-2.0
"""A broker, a controller and an agent with the emulated device, as processes of the command line."""
from __future__ import annotations

import os
import pathlib
import shlex
import signal
import socket
import subprocess
import time
from typing import Optional

import grpc

from tierlog.messages import messages, stub

#: How the command line is started; the Java test that runs these tests names its own class path.
COMMAND = shlex.split(os.environ.get("TIERLOG_COMMAND", str(pathlib.Path(__file__).parents[3] / "ops" / "tierlog")))
PATIENCE_S = 120.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Processes:
    """The parts of one Tierlog, each in a process that can be killed and started again."""

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory
        self.port = free_port()
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._start("broker", "broker", "--port", str(self.port), "--data", str(directory / "broker"))
        self._await_port(self.port)
        self.run("topics", "create", "--bootstrap-servers", self.brokers, "--partitions", "2")
        self._start("controller", "controller", "--bootstrap-servers", self.brokers, "--state-dir", str(directory / "controller"),
                    "--http-port", "0", "--api-listen", "none", "--commit-interval-ms", "50", "--tick-ms", "200")

    @property
    def brokers(self) -> str:
        return f"127.0.0.1:{self.port}"

    def run(self, *words: str) -> str:
        done = subprocess.run([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
        assert done.returncode == 0, done.stdout.decode()
        return done.stdout.decode()

    def _start(self, name: str, *words: str) -> None:
        with open(self.directory / f"{name}.log", "ab") as log:
            self._running[name] = subprocess.Popen([*COMMAND, *words], stdout=log, stderr=log, start_new_session=True)

    def _await_port(self, port: int) -> None:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until and self._running["broker"].poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError(f"nothing listens on {port}: {self.output('broker')}")

    def output(self, name: str) -> str:
        return (self.directory / f"{name}.log").read_text(errors="replace")[-4_000:]

    def kill(self, name: str) -> None:
        process = self._running.pop(name, None)
        if process is not None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)

    def verify_log(self) -> None:
        """Ends all that write, and verifies what they wrote: after the last test, since nothing goes on without a controller."""
        for name in [name for name in self._running if name != "broker"]:
            self.kill(name)
        report = self.run("audit", "verify", "--bootstrap-servers", self.brokers)
        assert "VIOLATED" not in report, report

    def close(self) -> None:
        for name in list(self._running)[::-1]:
            self.kill(name)


class Agent:
    """One agent on a Unix socket."""

    def __init__(self, processes: Processes, name: str, block_bytes: int, block_tokens: int, ranks: int = 1, host_blocks: int = 256,
                 store: str = "", more: tuple[str, ...] = ()) -> None:
        self.processes, self.name = processes, name
        self.socket = str(processes.directory / f"{name}.sock")
        self.store = processes.directory / f"store-{store or name}"
        self._words = ["agent", "--bootstrap-servers", processes.brokers, "--node", name, "--store", str(self.store),
                       "--host", f"{host_blocks}blocks", "--bytes-per-block", f"{block_bytes}", "--block-tokens", str(block_tokens), "--ranks", str(ranks), "--no-tcp",
                       "--engine-socket", self.socket, "--registration-timeout", "60", *more]

    @property
    def address(self) -> str:
        return "unix:" + self.socket

    def start(self) -> "Agent":
        self.processes._start(self.name, *self._words)  # pylint: disable=protected-access
        return self

    def health(self) -> Optional[object]:
        channel = grpc.insecure_channel(self.address)
        try:
            return stub(channel).Health(messages.HealthRequest(), timeout=2)
        except grpc.RpcError:
            return None
        finally:
            channel.close()

    def await_on_the_log(self) -> "Agent":
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            health = self.health()
            if health is not None and health.on_the_log:
                return self
            time.sleep(0.1)
        raise AssertionError(f"agent {self.name} is not on the log: {self.processes.output(self.name)}\n{self.processes.output('controller')}")

    def kill(self) -> None:
        self.processes.kill(self.name)

    def stored(self, above: int = 0) -> list[pathlib.Path]:
        """Files of its shared store with more than so many bytes: its objects, when a block has as many."""
        return [path for path in self.store.rglob("*") if "incoming" not in path.parts and path.is_file() and not path.name.startswith(".")
                and path.stat().st_size > above]
