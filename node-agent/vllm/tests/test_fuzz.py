# SPDX-License-Identifier: Apache-2.0
"""Random orders against an agent in this process that keeps real bytes and is slow, refuses and dies: thousands of steps in seconds."""
from __future__ import annotations

import mmap
import os
import random
import threading
import time
from typing import Any

import grpc
import pytest

from fake_agent import FakeAgent
from test_connector import fuzz
from tierlog.messages import messages


class KeepingAgent(FakeAgent):
    """Copies pages to a dictionary when an attempt ends, and back when it is asked to load them."""

    def __init__(self, path: str, seed: int) -> None:
        super().__init__(path)
        self.host: dict[tuple[str, bytes], list[bytes]] = {}
        self.random = random.Random(seed)
        self.content: dict[tuple[str, int], dict[int, tuple[str, bytes]]] = {}
        self.trouble = False
        self.behave = {"Submit": self.submit, "Load": self.load, "Sealed": self.seal, "Finish": self.finish, "Cancel": self.cancel}

    def _memory(self, page: int, write: Any = None) -> list[bytes]:
        """The pieces of a page, read or written."""
        pieces = []
        for number, layer in enumerate(self.joined.buffers.layers):
            region = self.joined.buffers.regions[layer.region]
            with open(region.shared_memory_path, "r+b") as file, mmap.mmap(file.fileno(), os.fstat(file.fileno()).st_size) as memory:
                for i in range(layer.segments):
                    begin = layer.offset + page * layer.block_stride + i * layer.segment_stride
                    if write is not None:
                        memory[begin:begin + layer.segment_bytes] = write[number * layer.segments + i]
                    pieces.append(memory[begin:begin + layer.segment_bytes])
        return pieces

    def _disturb(self, context: Any) -> None:
        if self.trouble and self.random.random() < 0.08:
            if self.random.random() < 0.5:
                context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "busy")
            time.sleep(self.random.random() * 0.05)

    def submit(self, request: Any, context: Any) -> Any:
        self._disturb(context)
        count = 0
        while request.reuse_eligible and request.device_blocks + count < len(request.keys) \
                and (request.namespace, request.keys[request.device_blocks + count]) in self.host:
            count += 1
        lease = f"{request.request}/{request.attempt}" if count else ""
        offer = messages.Offer(first_index=request.device_blocks, sources=[1] * count, reason=1, lease=lease)
        if self.random.random() < 0.3:
            threading.Timer(self.random.random() * 0.02, lambda: self.notify(
                ready=messages.Ready(request=request.request, attempt=request.attempt, offer=offer))).start()
            return messages.SubmitReply(waiting=messages.Waiting())
        return messages.SubmitReply(offer=offer)

    def load(self, request: Any, context: Any) -> Any:
        self._disturb(context)
        loaded = 0
        for block in request.blocks:
            if self.trouble and self.random.random() < 0.03:
                self._memory(block.page, [os.urandom(len(piece)) for piece in self._memory(block.page)])
                break
            time.sleep(self.random.random() * 0.002)
            self._memory(block.page, self.host[request.namespace, block.key])
            loaded += 1
        return messages.LoadReply(loaded=loaded, reason="" if loaded == len(request.blocks) else "checksum")

    def seal(self, request: Any, context: Any) -> None:
        self._disturb(context)
        with self.lock:
            pages = self.content.setdefault((request.request, request.attempt), {})
            for block in request.blocks:
                pages[block.page] = (request.namespace, block.key)

    def finish(self, request: Any, context: Any) -> None:
        self._end(request, keep=True)

    def cancel(self, request: Any, context: Any) -> None:
        self._end(request, keep=False)

    def _end(self, request: Any, keep: bool) -> None:
        with self.lock:
            pages = self.content.pop((request.request, request.attempt), {})

        def write_back() -> None:
            for page, key in pages.items():
                if keep:
                    self.host[key] = self._memory(page)  # wrong bytes in here would be found by the next load
                self.notify(released=messages.Released(request=request.request, attempt=request.attempt, pages=[page]))

        if pages:
            threading.Timer(self.random.random() * 0.03, write_back).start()


@pytest.mark.parametrize("seed", range(int(os.environ.get("TIERLOG_FUZZ_SEEDS", "5"))))
def test_any_order_with_an_agent_in_trouble_keeps_every_byte(tmp_path, engines, seed):
    agent = KeepingAgent(str(tmp_path / "agent.sock"), seed).start()
    agent.trouble = seed % 3 != 0
    try:
        engine = engines(agent.address, blocks=28 + seed, kind=("hnd", "cross", "split")[seed % 3], async_load=seed != 4,
                         preemption_ms=(1, 200)[seed % 2], bound_ms=200)

        def die():
            agent.stop()
            agent.host.clear()
            agent.content.clear()
            agent.start()

        fuzz(engine, random.Random(seed), 250, die if seed % 3 == 2 else None)
        assert engine.preemptions > 0
        assert sum(engine.hits.values()) > 0
    finally:
        agent.stop()
