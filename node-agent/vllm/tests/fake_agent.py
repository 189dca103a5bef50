# SPDX-License-Identifier: Apache-2.0
"""An agent that a test scripts: it offers blocks, copies into the pages or not, and answers late, wrongly or never."""
from __future__ import annotations

import mmap
import os
import queue
import threading
from concurrent import futures
from typing import Any, Callable, Optional

import grpc

from tierlog.messages import SERVICE, _message_class, messages


class FakeAgent:
    """Serves the engine API on a Unix socket; ``behave[NAME]`` answers a call in the place of the default."""

    def __init__(self, path: str) -> None:
        self.address = f"unix:{path}"
        self.calls: list[tuple[str, Any]] = []
        self.behave: dict[str, Callable[[Any, Any], Any]] = {}
        self.offer = 0
        self.prompt_blocks = 0   # 0: as an agent that says nothing of them
        self.call_blocks = 0
        self.lock = threading.Lock()
        self.streams: list[queue.Queue[Any]] = []
        self.session = 0
        self.joined: Optional[Any] = None
        self.sealed: dict[tuple[str, int], list[int]] = {}
        self._server: Optional[grpc.Server] = None

    def start(self) -> "FakeAgent":
        self._server = grpc.server(futures.ThreadPoolExecutor(32))
        handlers = {}
        for method in SERVICE.methods:
            stream = method.name in ("Open", "Join")
            make = grpc.unary_stream_rpc_method_handler if stream else grpc.unary_unary_rpc_method_handler
            handlers[method.name] = make(
                self._stream(method.name) if stream else self._unary(method),
                request_deserializer=_message_class(method.input_type).FromString,
                response_serializer=_message_class(method.output_type).SerializeToString)
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE.full_name, handlers),))
        self._server.add_insecure_port(self.address)
        self._server.start()
        return self

    def stop(self) -> None:
        """As when the process is killed."""
        if self._server is not None:
            for stream in self.streams:
                stream.put(None)
            self.streams.clear()
            self._server.stop(0).wait()
            self._server = None

    def count(self, name: str) -> int:
        return sum(1 for called, _ in self.calls if called == name)

    def requests(self, name: str) -> list[Any]:
        return [request for called, request in self.calls if called == name]

    def notify(self, **notice: Any) -> None:
        for stream in list(self.streams):
            stream.put(messages.Notice(**notice))

    def _stream(self, name: str) -> Callable[[Any, Any], Any]:
        def follow(request: Any, context: Any) -> Any:
            notices: queue.Queue[Any] = queue.Queue()
            with self.lock:
                self.calls.append((name, request))
                if name in self.behave:
                    self.behave[name](request, context)
                if name == "Open":
                    self.session += 1
                    notices.put(messages.Notice(opened=messages.Opened(
                        session=f"s{self.session}", node="fake", block_bytes=1, prompt_blocks=self.prompt_blocks, call_blocks=self.call_blocks)))
                elif not self.streams:
                    context.abort(grpc.StatusCode.NOT_FOUND, "the instance has no session yet")
                else:
                    self.joined = request
                    notices.put(messages.Notice(opened=messages.Opened(
                        session=f"s{self.session}", node="fake", block_bytes=1, prompt_blocks=self.prompt_blocks, call_blocks=self.call_blocks)))
                    for stream in self.streams:
                        stream.put(messages.Notice(registered=messages.Registered(pages=request.buffers.pages, layout=request.layout)))
                self.streams.append(notices)
            context.add_callback(lambda: notices.put(None))
            while True:
                notice = notices.get()
                if notice is None:
                    if notices in self.streams:
                        self.streams.remove(notices)
                    return
                yield notice
        return follow

    def _unary(self, method: Any) -> Callable[[Any, Any], Any]:
        def answer(request: Any, context: Any) -> Any:
            with self.lock:
                self.calls.append((method.name, request))
            behave = self.behave.get(method.name) or getattr(self, "_" + method.name.lower(), None)
            reply = behave(request, context) if behave else None
            return reply if reply is not None else _message_class(method.output_type)()
        return answer

    def _submit(self, request: Any, context: Any) -> Any:
        count = max(0, min(self.offer, len(request.keys)) - request.device_blocks)
        return messages.SubmitReply(offer=messages.Offer(
            first_index=request.device_blocks, sources=[1] * count, reason=1, lease=f"l-{request.request}-{request.attempt}" if count else ""))

    def _load(self, request: Any, context: Any) -> Any:
        return messages.LoadReply(loaded=len(request.blocks))

    def _sealed(self, request: Any, context: Any) -> None:
        self.sealed.setdefault((request.request, request.attempt), []).extend(block.page for block in request.blocks)

    def _finish(self, request: Any, context: Any) -> None:
        self.release(request.request, request.attempt)

    _cancel = _finish

    def release(self, request: str, attempt: int) -> None:
        pages = self.sealed.pop((request, attempt), [])
        if pages:
            self.notify(released=messages.Released(request=request, attempt=attempt, pages=pages))

    def write(self, block: int, data: bytes, layer: int = 0) -> None:
        """Writes into a page as the agent would: through the registered memory."""
        found = self.joined.buffers.layers[layer]
        path = self.joined.buffers.regions[found.region].shared_memory_path
        with open(path, "r+b") as file:
            memory = mmap.mmap(file.fileno(), os.fstat(file.fileno()).st_size)
            begin = found.offset + block * found.block_stride
            memory[begin:begin + len(data)] = data
            memory.close()
