# SPDX-License-Identifier: Apache-2.0
"""The worker side of one rank: hands its memory to the agent, and makes the calls about it when its own device has finished with the pages.

vLLM's worker thread gives orders and polls; one thread makes the calls in their order, and another reads the notices of the agent.
"""
from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

import grpc

from tierlog.messages import messages
from tierlog.stream import NoticeStream, refusal
from tierlog_vllm.compat import LOG
from tierlog_vllm.layout import Pool
from tierlog_vllm.metadata import Attempt, Block, End, Load, Prefilled, Seal, TierlogMetadata
from tierlog_vllm.metrics import Counts
from tierlog_vllm.settings import Settings

_CALL_S = 5.0
#: When the agent breaks off, a copy that it had begun may write for this many seconds more; no page is given back before.
_GRACE_S = 0.3
#: Sessions are made again when pages stay held this many seconds longer than they should.
_LAST_RESORT_S = 5.0
#: The notice of a session may come so many seconds later here than at the scheduler side.
_NOTICE_S = 1.0
#: After a call that was not answered, nothing is saved for so many seconds: calls must not queue up behind an agent that hangs.
_SLOW_S = 10.0
_MOST_RELEASED = 65_536

_Key = tuple[str, str, int]


def _key(attempt: Attempt) -> _Key:
    return attempt.session, attempt.name, attempt.number


@dataclass
class _Ending:
    """An attempt that has ended, until its pages are free."""

    end: End
    since: float
    asked: bool = False        # Finish or Cancel has been called, or need not be
    cancelled: bool = False
    settled: threading.Event = field(default_factory=threading.Event)


class WorkerSide:
    """See the module."""

    def __init__(self, settings: Settings, pool: Pool) -> None:
        self._settings, self._pool = settings, pool
        self.counts = Counts()
        self._lock = threading.Lock()
        self._joined = threading.Condition(self._lock)
        self._session = ""
        self._ended = ""                              # the last session that has ended
        self._wanted = ""                             # session that the scheduler side has, to join when the instance has another name
        self._over_at = -_GRACE_S                     # when the last session ended
        self._said = ""
        self._sealed: dict[_Key, set[int]] = {}       # pages that the agent may read
        self._released: dict[_Key, set[int]] = {}
        self._endings: dict[_Key, _Ending] = {}
        self._broken: dict[_Key, tuple[Load, set[int], float]] = {}  # calls that ended without an answer: pages that may be written
        self._received: list[tuple[float, str]] = []  # not to be named before that time
        self._sent: list[tuple[float, str]] = []
        self._errors: set[int] = set()
        self._slow_until = 0.0
        self._spoiled = False                         # a load that the step waited for has failed
        self._idle_at = 0.0                           # when the pages of failed loads that a step waits for are free
        self._loading: dict[_Key, tuple[Load, float]] = {}
        self._jobs: queue.Queue[Optional[Callable[[], None]]] = queue.Queue()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="tierlog-calls", daemon=True)
        self._thread.start()
        self._stream = NoticeStream(settings.agent, "tierlog-rank", self._join, self._notice, self._over)

    # --- the stream of notices, on its own thread

    def _join(self, calls: Any) -> Any:
        named = self._settings.instance if not self._wanted or self._stream_ends_even() else ""
        options = {"rank": str(self._settings.rank), "ranks": str(self._settings.ranks), "layout": self._pool.layout} \
            if self._settings.rank == 0 else {}
        return calls.Join(self._pool.join(named, "" if named else self._wanted, self._settings.rank, options))

    def _stream_ends_even(self) -> bool:
        """By name and by session in turns: the two sides may know the engine by different names."""
        stream = getattr(self, "_stream", None)
        return stream is None or stream.ends % 2 == 0

    def _notice(self, notice: Any) -> None:
        kind = notice.WhichOneof("notice")
        with self._lock:
            if kind == "opened":
                self._session, self._said, self._slow_until = notice.opened.session, "", 0.0
                self._joined.notify_all()
                LOG.info("tierlog: rank %d has joined session %s", self._settings.rank, self._session)
            elif kind == "released" and notice.released.request:
                self._free((self._session, notice.released.request, notice.released.attempt), set(notice.released.pages))

    def _over(self, reason: str) -> None:
        with self._lock:
            if self._session:
                self._ended, self._session, self._over_at = self._session, "", time.monotonic()
                self._joined.notify_all()
                self._sealed.clear()
                self._released.clear()
                for load, _, _ in self._broken.values():
                    self._fail(load, 0, self._over_at + _GRACE_S)
                self._broken.clear()
                for key in list(self._endings):
                    self._settle(key, self._over_at + _GRACE_S)
            # Without a session of the scheduler side there is nothing to join yet, which is no news.
            if reason != self._said and not reason.startswith("NOT_FOUND"):
                self._said = reason
                LOG.warning("tierlog: rank %d is not with the agent at %s: %s", self._settings.rank, self._settings.agent, reason)

    def _free(self, key: _Key, pages: set[int]) -> None:
        if key in self._broken:
            load, left, _ = self._broken[key]
            ended = left & pages
            left -= ended
            pages = pages - ended  # of the load, and no release of a save
            if not left:
                del self._broken[key]
                self._fail(load, 0, 0)
        self._released.setdefault(key, set()).update(pages)
        if len(self._released) > _MOST_RELEASED:  # of attempts whose end never comes here
            self._released.pop(next(iter(self._released)))
        self._look(key)

    def _look(self, key: _Key) -> None:
        ending = self._endings.get(key)
        if ending is not None and ending.asked and self._sealed.get(key, set()) <= self._released.get(key, set()):
            self._settle(key, 0)

    def _settle(self, key: _Key, not_before: float) -> None:
        ending = self._endings.pop(key)
        self._sealed.pop(key, None)
        self._released.pop(key, None)
        if ending.end.hold:
            self._sent.append((not_before, ending.end.attempt.request))
        ending.settled.set()

    # --- calls, on their own thread and in their order

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                return
            try:
                job()
            except Exception:  # pylint: disable=broad-except  # a fault here must cost the cache, never the engine
                LOG.exception("tierlog: a call was not made")

    def _device_event(self) -> Optional[Any]:
        """Ends when what the device has been given so far is done; None on the CPU, where it is done."""
        if not self._pool.cuda:
            return None
        import torch
        event = torch.cuda.Event()
        event.record()
        return event

    def _ranked(self) -> dict[str, int]:
        return {"rank": self._settings.rank} if self._settings.ranks > 1 else {}

    def _pages(self, blocks: list[Block]) -> list[Any]:
        return [messages.BlockPage(index=b.index, key=b.key, page=b.page, generation=b.generation) for b in blocks]

    def _here(self, attempt: Attempt) -> bool:
        return bool(attempt.session) and attempt.session == self._session

    def _arrived(self, attempt: Attempt) -> bool:
        """As ``_here``, and waits for the notice of the session, since the scheduler side may have its own before. Holds the lock."""
        def known() -> bool:
            return not attempt.session or attempt.session in (self._session, self._ended)
        self._joined.wait_for(known, _NOTICE_S)
        return self._here(attempt)

    def _begin_load(self, load: Load, event: Optional[Any]) -> None:
        if event is not None:
            event.synchronize()
        attempt = load.attempt
        key = _key(attempt)
        with self._lock:
            here = bool(load.lease) and self._arrived(attempt)
            if key not in self._loading:  # the step has gone on without it
                return
            if not here:
                self._loading.pop(key)
                self._fail(load, 0, 0)
                return
        request = messages.LoadRequest(session=attempt.session, request=attempt.name, attempt=attempt.number, namespace=attempt.namespace,
                                       lease=load.lease, blocks=self._pages(load.blocks), **self._ranked())
        call = self._stream.calls.Load.future(request, timeout=self._settings.load)
        call.add_done_callback(lambda done: self._loaded(load, done))

    def _loaded(self, load: Load, done: Any) -> None:
        key = _key(load.attempt)
        try:
            reply = done.result()
            loaded, why, open_end = reply.loaded, reply.reason, False
        except (grpc.RpcError, grpc.FutureCancelledError) as e:
            code = e.code() if hasattr(e, "code") else grpc.StatusCode.CANCELLED
            loaded, why = 0, refusal(e)
            # These ended without an outcome of the copy; every other refusal comes before it begins.
            open_end = code in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNAVAILABLE,
                                grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL)
        with self._lock:
            if key not in self._loading:  # the step has gone on without it
                return
            begun = self._loading.pop(key)[1]
            self.counts.add("loads")
            self.counts.add("load_seconds", time.monotonic() - begun)
            if loaded < len(load.blocks):
                LOG.warning("tierlog: %d of %d blocks of request %s were not loaded, vLLM computes them: %s",
                            len(load.blocks) - loaded, len(load.blocks), load.attempt.request, why)
            if not open_end:
                self._fail(load, loaded, 0)
            elif self._here(load.attempt):
                left = {block.page for block in load.blocks} - self._released.pop(key, set())
                if left:
                    self._broken[key] = (load, left, time.monotonic())
                else:
                    self._fail(load, 0, 0)
            else:
                self._fail(load, 0, time.monotonic() + _GRACE_S)

    def _fail(self, load: Load, loaded: int, not_before: float) -> None:
        """The load is over; what is behind its first ``loaded`` blocks has failed."""
        self.counts.add("blocks_loaded", loaded)
        self.counts.add("blocks_failed", len(load.blocks) - loaded)
        self._errors.update(block.page for block in load.blocks[loaded:])
        if load.wait and loaded < len(load.blocks):
            self._idle_at = max(self._idle_at, not_before)
            self._spoiled = True
        self._received.append((not_before, load.attempt.request if not load.wait else ""))

    def _seal(self, seal: Seal, event: Optional[Any]) -> None:
        if event is not None:
            event.synchronize()
        attempt, key = seal.attempt, _key(seal.attempt)
        pages = {block.page for block in seal.blocks}
        with self._lock:
            if time.monotonic() < self._slow_until or not self._arrived(attempt):
                return
            # What was released before, such as the pages of a load that failed, says nothing about this save.
            self._released.get(key, set()).difference_update(pages)
            self._sealed.setdefault(key, set()).update(pages)
        request = messages.SealedRequest(session=attempt.session, request=attempt.name, attempt=attempt.number, namespace=attempt.namespace,
                                         root=seal.root, parent=seal.parent, blocks=self._pages(seal.blocks), **self._ranked())
        try:
            self._stream.calls.Sealed(request, timeout=_CALL_S)
            self.counts.add("blocks_sealed", len(seal.blocks))
        except grpc.RpcError as e:
            LOG.debug("tierlog: blocks of request %s are not saved: %s", attempt.request, refusal(e))
            if e.code() is grpc.StatusCode.DEADLINE_EXCEEDED:  # the agent may have them all the same
                if self._settings.ranks > 1:  # a rank that saves nothing for a time would fall out of step with the others
                    self._leave()
                else:
                    self._slow_until = time.monotonic() + _SLOW_S
            else:
                with self._lock:
                    self._sealed.get(key, set()).difference_update(pages)

    def _prefilled(self, order: Prefilled) -> None:
        attempt = order.attempt
        if self._settings.rank == 0 and self._here(attempt):
            try:
                self._stream.calls.Prefilled(messages.PrefilledRequest(
                    session=attempt.session, request=attempt.name, attempt=attempt.number, device_blocks=order.device,
                    loaded_blocks=order.loaded, computed_blocks=order.computed), timeout=_CALL_S)
            except grpc.RpcError as e:
                LOG.debug("tierlog: %s", refusal(e))

    def _end(self, ending: _Ending) -> None:
        attempt, end = ending.end.attempt, ending.end
        if self._settings.rank == 0 and self._here(attempt):
            if end.outcome == "CANCELLED":
                self._cancel(attempt)
                ending.cancelled = True
            else:
                outcome = messages.FinishRequest.Outcome.Value(f"OUTCOME_{end.outcome}")
                try:
                    self._stream.calls.Finish(messages.FinishRequest(
                        session=attempt.session, request=attempt.name, attempt=attempt.number, outcome=outcome,
                        generated_tokens=end.generated), timeout=_CALL_S)
                except grpc.RpcError as e:
                    LOG.debug("tierlog: the end of request %s: %s", attempt.request, refusal(e))
                    if e.code() is grpc.StatusCode.NOT_FOUND:  # it ended before: its pages were released, or never kept
                        with self._lock:
                            self._sealed.pop(_key(attempt), None)
        with self._lock:
            ending.asked = True
            key = _key(attempt)
            if key in self._endings:
                if self._here(attempt):
                    self._look(key)
                else:
                    self._settle(key, self._over_at + _GRACE_S)

    def _cancel(self, attempt: Attempt) -> None:
        try:
            self._stream.calls.Cancel(messages.CancelRequest(
                session=attempt.session, request=attempt.name, attempt=attempt.number), timeout=_CALL_S)
        except grpc.RpcError as e:
            LOG.debug("tierlog: the end of request %s: %s", attempt.request, refusal(e))

    def _abandon(self, ending: _Ending) -> None:
        """Its blocks are not saved any more; what moves at this moment is still waited for."""
        if not ending.cancelled:
            ending.cancelled = True
            self.counts.add("saves_abandoned")
            if self._settings.rank == 0:
                self._jobs.put(lambda: self._cancel(ending.end.attempt))

    def _ending(self, end: End) -> _Ending:
        ending = _Ending(end, time.monotonic())
        with self._lock:
            self._endings[_key(end.attempt)] = ending
        self._jobs.put(lambda: self._end(ending))
        return ending

    # --- orders, on vLLM's worker thread

    def preempt(self, orders: TierlogMetadata) -> None:
        """Returns when nothing of the agent reads the pages of the preempted attempts any more."""
        if not orders.preempted:
            return
        began = time.monotonic()
        endings = [self._ending(end) for end in orders.preempted]
        self._wait(endings, began + self._settings.preemption)
        left = [ending for ending in endings if not ending.settled.is_set()]
        for ending in left:
            self._abandon(ending)
        if not self._wait(left, time.monotonic() + _LAST_RESORT_S):
            LOG.warning("tierlog: the agent does not give back the pages of preempted requests: the session is made again")
            self._leave()
            self._wait(left, time.monotonic() + 1)
            time.sleep(_GRACE_S)
        self.counts.add("preemptions_waited_seconds", time.monotonic() - began)

    @staticmethod
    def _wait(endings: list[_Ending], until: float) -> bool:
        return all([ending.settled.wait(max(0.0, until - time.monotonic())) for ending in endings])

    def _leave(self) -> None:
        """Ends the session, since the agent does not answer for it: it frees everything, and a new one is opened."""
        self._stream.again()

    def start(self, orders: TierlogMetadata) -> None:
        """Begins the loads of the step, and waits for those that it needs."""
        if orders.session and orders.session not in (self._session, self._wanted):
            self._wanted = orders.session
            self._stream.hurry()
        event = self._device_event() if orders.loads else None
        for load in orders.loads:
            with self._lock:
                self._loading[_key(load.attempt)] = (load, time.monotonic())
            self._jobs.put(lambda load=load: self._begin_load(load, event))  # type: ignore[misc]
        waited = [load for load in orders.loads if load.wait]
        until = time.monotonic() + self._settings.load + _LAST_RESORT_S
        while waited and time.monotonic() < until:
            with self._lock:
                waited = [one for one in waited if _key(one.attempt) in self._loading or _key(one.attempt) in self._broken]
            if waited:
                time.sleep(0.0005)
        if waited:
            LOG.warning("tierlog: the agent does not end the loads of a step: vLLM computes their blocks, and the session is made again")
            self._leave()
            with self._lock:
                for load in waited:
                    key = _key(load.attempt)
                    if self._loading.pop(key, None) or self._broken.pop(key, None):
                        self._fail(load, 0, time.monotonic() + _GRACE_S)
        if any(load.wait for load in orders.loads):
            time.sleep(max(0.0, self._idle_at - time.monotonic()))

    def finish_step(self, orders: TierlogMetadata) -> None:
        """The step has been given to the device: what it computed is handed over when the device has done it."""
        event = self._device_event() if orders.seals else None
        # What this step computed may have attended to blocks that are wrong: vLLM throws it away, and it must not be saved.
        seals = [] if self._spoiled else orders.seals
        self._spoiled = False
        for order in orders.prefilled:
            self._jobs.put(lambda order=order: self._prefilled(order))  # type: ignore[misc]
        for seal in seals:
            self._jobs.put(lambda seal=seal: self._seal(seal, event))  # type: ignore[misc]
        for end in orders.ends:
            if _key(end.attempt) in self._loading:
                self._jobs.put(lambda end=end: self._cancel(end.attempt) if self._settings.rank == 0 else None)  # type: ignore[misc]
            else:
                self._ending(end)

    def finished(self) -> tuple[set[str], set[str]]:
        """Requests whose pages are free of saves, and those whose loads are over."""
        now = time.monotonic()
        with self._lock:
            for ending in list(self._endings.values()):
                if ending.end.hold and now - ending.since > self._settings.hold:
                    self._abandon(ending)
                    if now - ending.since > self._settings.hold + _LAST_RESORT_S:
                        LOG.warning("tierlog: the agent does not give back the pages of finished requests: the session is made again")
                        ending.since = now
                        self._leave()
            if any(now - since > _LAST_RESORT_S for _, _, since in self._broken.values()):
                self._leave()
            sent = self._due("_sent", now)
            received = self._due("_received", now)
        return sent, received

    def _due(self, name: str, now: float) -> set[str]:
        waiting: list[tuple[float, str]] = getattr(self, name)
        due = {request for when, request in waiting if when <= now}
        setattr(self, name, [(when, request) for when, request in waiting if when > now])
        return due - {""}

    def load_errors(self) -> set[int]:
        """Pages whose loads failed since the last call."""
        with self._lock:
            errors, self._errors = self._errors, set()
        return errors

    def close(self) -> None:
        """Leaves the session and ends both threads."""
        self._stream.close()
        self._jobs.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(5)

