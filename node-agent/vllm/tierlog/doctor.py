# SPDX-License-Identifier: Apache-2.0
"""Says what is wrong with a set-up: ``python -m tierlog.doctor --agent unix:/run/tierlog/engine.sock``. Exit code 0: nothing is."""
from __future__ import annotations

import argparse
import importlib
import os
import re
import stat
import sys
import time
from typing import Callable, Iterable, Optional

Finding = tuple[str, str, str]  # ok, warn or wrong; what was looked at; what was found and what to do

_PATIENCE_S = 5.0


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def packages() -> Iterable[Finding]:
    """What must be installed."""
    for name, least in (("grpc", "1.51"), ("google.protobuf", "3.21")):
        try:
            version = getattr(importlib.import_module(name), "__version__", "0")
        except ImportError:
            yield "wrong", name, f"is not installed: pip install tierlog-vllm installs it (needs {least} or later)"
            continue
        enough = _version(version) >= _version(least)
        yield "ok" if enough else "wrong", name, version if enough else f"{version} is too old: {least} or later is needed"
    try:
        importlib.import_module("tierlog.messages")
    except ImportError as e:
        yield "wrong", "messages", str(e)
    for name, why in (("torch", "the connector needs it, this command does not"), ("vllm", "without it the connector can only be tested")):
        try:
            yield "ok", name, getattr(importlib.import_module(name), "__version__", "is there")
        except ImportError:
            yield "warn", name, f"is not installed here: {why}"
        except Exception as e:  # pylint: disable=broad-except  # an import of these can fail in any way
            yield "warn", name, f"cannot be imported: {e}"


def environment(variables: Optional[dict[str, str]] = None) -> Iterable[Finding]:
    """What vLLM's processes must have in their environment, if this one has the same."""
    variables = dict(os.environ) if variables is None else variables
    seed = variables.get("PYTHONHASHSEED", "")
    if re.fullmatch(r"\d+", seed):
        yield "ok", "PYTHONHASHSEED", f"{seed}: must be the same for every engine that shares blocks"
    else:
        yield "warn", "PYTHONHASHSEED", "is no number: blocks are not shared with other engines, and not found after a restart. Set it, to 0 for " \
            "example, and start vLLM with --prefix-caching-hash-algo sha256_cbor"
    if "expandable_segments:true" in variables.get("PYTORCH_CUDA_ALLOC_CONF", "").lower():
        yield "wrong", "PYTORCH_CUDA_ALLOC_CONF", "expandable segments have no CUDA IPC handles: take expandable_segments:True out"


def _socket(address: str) -> Optional[Finding]:
    if not address.startswith("unix:"):
        return None
    path = address[5:]
    try:
        found = os.stat(path)
    except OSError as e:
        return "wrong", "socket", f"{path}: {e.strerror}. Start the agent with --engine-socket {path}, on this machine and in this container"
    if not stat.S_ISSOCK(found.st_mode):
        return "wrong", "socket", f"{path} is no socket"
    if not os.access(path, os.R_OK | os.W_OK):
        return "wrong", "socket", f"{path} belongs to user {found.st_uid}, this is user {os.getuid()}: run agent and engine as the same user"
    return "ok", "socket", path


def agent(address: str, sleep: Callable[[float], None] = time.sleep) -> Iterable[Finding]:
    """Whether an agent answers, and how it is."""
    socket = _socket(address)
    if socket:
        yield socket
        if socket[0] == "wrong":
            return
    import grpc

    from tierlog.messages import messages, stub
    from tierlog.stream import open_channel, refusal
    try:
        channel = open_channel(address)
    except OSError as e:
        yield "wrong", "tls", f"{e.filename} cannot be read: {e.strerror}. Correct TIERLOG_TLS_CA, TIERLOG_TLS_CERTIFICATES or TIERLOG_TLS_KEY"
        return
    try:
        calls = stub(channel)
        try:
            health = calls.Health(messages.HealthRequest(), timeout=_PATIENCE_S, wait_for_ready=True)
        except grpc.RpcError as e:
            yield "wrong", "agent", f"{address} does not answer: {refusal(e)}. Is 'tierlog agent' running, and is this its --port or " \
                "--engine-socket? With --tls-certificates there, TIERLOG_TLS_CA must name the file of its authority"
            return
        until = time.monotonic() + _PATIENCE_S
        while not health.on_the_log and time.monotonic() < until:
            sleep(0.2)
            health = calls.Health(messages.HealthRequest(), timeout=_PATIENCE_S)
        yield "ok", "agent", f"{address} answers"
        if health.on_the_log:
            yield "ok", "log", f"the agent is registered, incarnation {health.incarnation}"
        else:
            yield "wrong", "log", "the agent is not registered, so nothing is saved: is a controller running, and does it reach the same brokers?"
        yield "ok" if health.host_free_blocks else "warn", "host memory", f"{health.host_free_blocks} blocks are free" + \
            ("" if health.host_free_blocks else ": older blocks must leave before new ones are saved; give the agent more with --host")
        yield _session(calls, messages, refusal)
    finally:
        channel.close()


def _session(calls: object, messages: object, refusal: Callable[[BaseException], str]) -> Finding:
    import grpc
    stream = calls.Open(messages.OpenRequest(instance=f"doctor-{os.getpid()}"), timeout=_PATIENCE_S)
    try:
        opened = next(iter(stream)).opened
        return "ok", "session", f"node {opened.node} opens sessions and moves blocks of {opened.block_bytes} bytes: the model's KV of one block, " \
            "over all layers and ranks, must have as many (--bytes-per-block of the agent)"
    except (grpc.RpcError, StopIteration) as e:
        return "wrong", "session", f"the agent opens no session: {refusal(e)}"
    finally:
        stream.cancel()


def main(arguments: Optional[list[str]] = None) -> int:
    """Prints the findings; the exit code is 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tierlog.doctor", description="Says what is wrong with a set-up of Tierlog and vLLM.")
    parser.add_argument("--agent", default="127.0.0.1:7070", help="address of the agent's engine API (default: %(default)s), or unix:/absolute/path")
    address = parser.parse_args(arguments).agent
    wrong = False
    for check in (packages, environment, lambda: agent(address)):
        try:
            findings = list(check())
        except ImportError as e:
            findings = [("wrong", "agent", f"cannot be asked: {e}")]
        for state, what, found in findings:
            wrong = wrong or state == "wrong"
            print(f"{state.upper():6}{what:18}{found}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
