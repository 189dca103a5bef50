# SPDX-License-Identifier: Apache-2.0
"""A stream of notices of the agent that is opened again whenever it ends, read by a thread of its own."""
from __future__ import annotations

import logging
import os
import threading
from typing import Any, Callable, Optional

import grpc

from tierlog.messages import stub

LOG = logging.getLogger("tierlog")

#: Pause before the next attempt, in seconds: it doubles up to the second number.
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.05, 1.0
#: Longest pause while the agent is there and the other side of the engine is not yet.
_NOT_YET_S = 0.1
_OPTIONS = [("grpc.enable_retries", 0), ("grpc.initial_reconnect_backoff_ms", 50), ("grpc.min_reconnect_backoff_ms", 50),
            ("grpc.max_reconnect_backoff_ms", 1000), ("grpc.max_receive_message_length", 16 << 20), ("grpc.use_local_subchannel_pool", 1)]


def open_channel(address: str, options: Optional[list[tuple[str, int]]] = None) -> grpc.Channel:
    """A channel to an agent. An address with a port speaks TLS when the environment names the PEM files that Tierlog's programs have as options:
    ``TIERLOG_TLS_CA``, and ``TIERLOG_TLS_CERTIFICATES`` with ``TIERLOG_TLS_KEY`` where the agent asks for a certificate."""
    files = {name: os.environ.get("TIERLOG_TLS_" + name, "") for name in ("CA", "CERTIFICATES", "KEY")}
    if address.startswith("unix:") or not (files["CA"] or files["CERTIFICATES"]):
        return grpc.insecure_channel(address, options=options)
    files["KEY"] = files["KEY"] or files["CERTIFICATES"]
    content: dict[str, Optional[bytes]] = {}
    for name, path in files.items():
        content[name] = None
        if path:
            with open(path, "rb") as file:
                content[name] = file.read()
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(content["CA"], content["KEY"], content["CERTIFICATES"]), options=options)


def refusal(error: BaseException) -> str:
    """Kind and text of a failed call, for people."""
    if isinstance(error, grpc.RpcError) and hasattr(error, "code"):
        return f"{error.code().name}: {error.details()}"
    return f"{type(error).__name__}: {error}"


class NoticeStream:
    """Keeps one Open or Join call to the agent. Safe for use by several threads; the two callbacks run on the stream's thread.

    ``begin(stub)`` makes the call and returns its stream, ``received(notice)`` takes each notice, ``over(reason)`` says that the stream has ended.
    """

    def __init__(self, address: str, name: str, begin: Callable[[Any], Any], received: Callable[[Any], None], over: Callable[[str], None]) -> None:
        self._begin, self._received, self._over = begin, received, over
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._call: Optional[Any] = None
        self._channel = open_channel(address, _OPTIONS)
        self._channel.subscribe(self._connectivity)
        self.calls = stub(self._channel)
        #: Whether a process listens at the address.
        self.connected = False
        #: Why the last attempt ended; empty before the first end.
        self.last_end = ""
        #: Streams that have ended, count.
        self.ends = 0
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _connectivity(self, now: grpc.ChannelConnectivity) -> None:
        self.connected = now is grpc.ChannelConnectivity.READY

    def _run(self) -> None:
        pause = FIRST_PAUSE_S
        while not self._stop.is_set():
            reason, any_came = self._follow()
            if self._stop.is_set():
                break
            self.last_end = reason
            self.ends += 1
            self._over(reason)
            pause = FIRST_PAUSE_S if any_came else min(LONGEST_PAUSE_S, pause * 2)
            self._wake.wait(min(pause, _NOT_YET_S) if reason.startswith("NOT_FOUND") else pause)
            self._wake.clear()

    def _follow(self) -> tuple[str, bool]:
        any_came = False
        try:
            with self._lock:
                if self._stop.is_set():
                    return "closed", False
                self._call = self._begin(self.calls)
            for notice in self._call:
                any_came = True
                self._received(notice)
            return "the agent has ended the stream", any_came
        except grpc.RpcError as e:
            return refusal(e), any_came
        except Exception as e:  # pylint: disable=broad-except  # a fault here must cost the cache, never the engine
            LOG.exception("tierlog: the stream of notices failed; it is opened again")
            return refusal(e), any_came
        finally:
            call = self._call
            if call is not None:
                call.cancel()

    def again(self) -> None:
        """Ends the present stream, which the agent takes for the end of the session, and opens the next one."""
        with self._lock:
            if self._call is not None:
                self._call.cancel()
        self._wake.set()

    def hurry(self) -> None:
        """Tries at once when the stream waits for its next attempt."""
        self._wake.set()

    def close(self) -> None:
        """Ends the stream and its thread, and all calls under way."""
        self._stop.set()
        self._wake.set()
        with self._lock:
            if self._call is not None:
                self._call.cancel()
        if threading.current_thread() is not self._thread:
            self._thread.join(5)
        self._channel.close()
