# SPDX-License-Identifier: Apache-2.0
"""Pages by key through an agent: for callers that have bytes in memory of the CPU and no device that the agent could open.

Bytes pass through staging pages: a memory file that the agent maps as the device of an engine. A key stands alone, as a prompt of one block, so a
page is found whatever came before it. Nothing here raises for an agent that is away, slow, or wrong: a page is then not found, or not saved.
"""
from __future__ import annotations

import logging
import mmap
import os
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Optional, Sequence

import grpc

from tierlog.messages import messages
from tierlog.stream import NoticeStream, refusal

LOG = logging.getLogger("tierlog")

#: A copy that was under way when its call ended may write for so many seconds more.
_GRACE_S = 0.3
#: After a call without an answer the agent is not asked for so many seconds.
_SLOW_S = 1.0
_MOST_KEYS = 4_096
#: After these the agent may still carry out the call; with any other it has refused it before it began.
_NO_ANSWER = frozenset({grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN,
                        grpc.StatusCode.INTERNAL})

#: Takes the bytes of a page: a view that is valid during the call.
Sink = Callable[[memoryview], None]
#: Writes the bytes of a page into a view.
Source = Callable[[memoryview], None]


@dataclass
class _Wait:
    """What a call waits for of one attempt: its offer, or the pages that it has given back."""

    name: str
    page: int = -1
    generation: int = 0
    offer: Any = None
    done: threading.Event = field(default_factory=threading.Event)


class _Staging:
    """The memory file of one session."""

    def __init__(self, pages: int, block_bytes: int) -> None:
        self.pages, self.block_bytes = pages, block_bytes
        self._file = os.memfd_create("tierlog-pages")
        os.ftruncate(self._file, pages * block_bytes)
        self.path = f"/proc/{os.getpid()}/fd/{self._file}"
        self._map = mmap.mmap(self._file, pages * block_bytes)
        self._view = memoryview(self._map)

    def page(self, number: int) -> memoryview:
        return self._view[number * self.block_bytes:(number + 1) * self.block_bytes]

    def close(self) -> None:
        os.close(self._file)  # the mapping goes when the last view of it does


class _Room:
    """Free staging pages of one direction. One chunk of a call takes what it needs at once, so that two calls cannot wait for each other."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self._free = list(numbers)
        self.most = len(self._free)
        self._changed = threading.Condition()

    def take(self, count: int, until: float) -> list[int]:
        """As many, or none when they are not free in time."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._free) >= count, max(0.0, until - time.monotonic())):
                return []
            taken, self._free = self._free[:count], self._free[count:]
            return taken

    def give_back(self, pages: Iterable[int]) -> None:
        with self._changed:
            self._free.extend(pages)
            self._changed.notify_all()


class _Session:
    """One session with the agent, from its first notice to its end."""

    def __init__(self, name: str, staging: _Staging, most_keys: int) -> None:
        half = staging.pages // 2
        self.name, self.staging = name, staging
        self.most_keys = most_keys
        self.reads, self.writes = _Room(range(half)), _Room(range(half, staging.pages))
        self.ready = False
        self.over = False
        self.serial = 0
        self.waits: dict[str, _Wait] = {}


class Pages:
    """See the module. Safe for use by several threads.

    :param agent: address of the agent's engine API, ``unix:/PATH`` or ``HOST:PORT``
    :param instance: name of this process at the agent, 1 to 64 letters, digits, dots, dashes and underscores
    :param namespace: all that must match for pages to be the same
    :param block_tokens: tokens of a page
    :param staging: pages in memory at a time, half of them for reads; at least 2
    :param fetch_s: longest time that a read waits for a fetch from disk, store or another node
    :param call_s: longest time of a call to the agent
    """

    def __init__(self, agent: str, instance: str, namespace: str, block_tokens: int, staging: int = 64, fetch_s: float = 2.0,
                 call_s: float = 5.0) -> None:
        self._agent, self._namespace, self._tokens = agent, namespace, block_tokens
        self._staging, self._fetch, self._call = max(2, staging), fetch_s, call_s
        self._instance = instance
        self._lock = threading.Lock()
        self._ready = threading.Condition(self._lock)
        self._session: Optional[_Session] = None
        self._nothing = _Staging(1, mmap.PAGESIZE)  # what a stream offers that the agent refuses, since there is no session
        self._generation = time.time_ns() // 1_000  # higher than in any earlier process of this name
        self._slow_until = 0.0
        self._said = ""
        self._threshold_said = False
        self.counts: dict[str, int] = {}
        open_request = messages.OpenRequest(instance=instance)
        self._stream = NoticeStream(agent, "tierlog-pages", lambda calls: calls.Open(open_request), self._notice, self._over)
        self._memory = NoticeStream(agent, "tierlog-pages-memory", self._join, lambda notice: None, lambda reason: None)

    # --- the session, on the threads of the streams

    def _join(self, calls: Any) -> Any:
        with self._lock:
            session = self._session
        staging = session.staging if session is not None else self._nothing
        size = staging.pages * staging.block_bytes
        layer = messages.KvLayer(name="page", region=0, offset=0, size=size, blocks=staging.pages, segment_bytes=staging.block_bytes, segments=1,
                                 block_stride=staging.block_bytes)
        region = messages.MemoryRegion(base=mmap.PAGESIZE, bytes=size, shared_memory_path=staging.path)
        buffers = messages.RegisterBuffersRequest(session=session.name if session is not None else "none", pages=staging.pages, regions=[region],
                                                  layers=[layer])
        return calls.Join(messages.JoinRequest(rank=0, buffers=buffers, layout="pages"))

    def _notice(self, notice: Any) -> None:
        kind = notice.WhichOneof("notice")
        with self._lock:
            if kind == "opened":
                self._session = _Session(notice.opened.session, _Staging(self._staging, notice.opened.block_bytes),
                                         notice.opened.call_blocks or _MOST_KEYS)
                self._slow_until = 0.0
            session = self._session
            if session is None:
                return
            if kind == "opened":
                self._memory.hurry()
            elif kind == "registered":
                session.ready, self._said = True, ""
                self._ready.notify_all()
                LOG.info("tierlog: session %s is ready, pages of %d bytes, namespace %s", session.name, session.staging.block_bytes, self._namespace)
            elif kind == "ready":
                wait = session.waits.get(notice.ready.request)
                if wait is not None:
                    wait.offer = notice.ready.offer
                    wait.done.set()
            elif kind == "released":
                wait = session.waits.get(notice.released.request)
                if wait is not None and wait.page in notice.released.pages:
                    wait.done.set()

    def _over(self, reason: str) -> None:
        with self._lock:
            session, self._session = self._session, None
            if session is not None:
                session.over = True
                session.staging.close()
                for wait in session.waits.values():
                    wait.done.set()
            if reason != self._said:
                self._said = reason
                LOG.warning("tierlog: no session with the agent at %s, nothing is found there: %s", self._agent, reason)

    def _now(self) -> Optional[_Session]:
        """The session, when the agent can be asked."""
        with self._lock:
            session = self._session
            return session if session is not None and session.ready and time.monotonic() >= self._slow_until else None

    def await_ready(self, seconds: float) -> bool:
        """Whether there is a session, at the latest after so many seconds."""
        with self._lock:
            return self._ready.wait_for(lambda: self._session is not None and self._session.ready, seconds)

    @property
    def page_bytes(self) -> int:
        """Bytes of the largest page that the agent takes; 0 without a session."""
        with self._lock:
            return self._session.staging.block_bytes if self._session is not None else 0

    # --- calls

    def _count(self, name: str, count: int) -> None:
        if count:
            with self._lock:
                self.counts[name] = self.counts.get(name, 0) + count

    def _results(self, calls: Sequence[Any]) -> list[Any]:
        """The answers, None for a call without one."""
        answers = []
        for call in calls:
            try:
                answers.append(call.result() if call is not None else None)
            except (grpc.RpcError, grpc.FutureCancelledError) as e:
                code = e.code() if hasattr(e, "code") else grpc.StatusCode.CANCELLED
                LOG.debug("tierlog: %s", refusal(e))
                if code is grpc.StatusCode.DEADLINE_EXCEEDED:
                    with self._lock:
                        self._slow_until = time.monotonic() + _SLOW_S
                answers.append(None)
        return answers

    @staticmethod
    def _may_go_on(call: Any) -> bool:
        """Whether the agent may still carry out a call without an answer; it refuses one before it begins."""
        return call is not None and call.code() in _NO_ANSWER

    def _begin(self, name: str, request: Any) -> Optional[Any]:
        try:
            return getattr(self._stream.calls, name).future(request, timeout=self._call)
        except (grpc.RpcError, ValueError):  # the channel is closed
            return None

    def _attempts(self, session: _Session, count: int) -> list[_Wait]:
        made = []
        with self._lock:
            for _ in range(count):
                session.serial += 1
                self._generation += 1
                wait = _Wait(f"{session.name}.{session.serial}", generation=self._generation)
                session.waits[wait.name] = wait
                made.append(wait)
        return made

    def _forget(self, session: _Session, waits: Iterable[_Wait]) -> None:
        with self._lock:
            for wait in waits:
                session.waits.pop(wait.name, None)

    def _submits(self, session: _Session, waits: Sequence[_Wait], keys: Sequence[bytes], reuse: bool) -> list[Any]:
        # One token more than a block, since the last token of a prompt is never reused.
        return [self._begin("Submit", messages.SubmitRequest(
            session=session.name, request=wait.name, attempt=1, namespace=self._namespace, keys=[key], prompt_tokens=self._tokens + 1,
            block_tokens=self._tokens, reuse_eligible=reuse)) for wait, key in zip(waits, keys)]

    def _block(self, wait: _Wait, key: bytes) -> Any:
        return messages.BlockPage(index=0, key=key, page=wait.page, generation=wait.generation)

    # --- what callers ask

    def found(self, keys: Sequence[bytes]) -> int:
        """How many pages are there, from the first key on."""
        count = 0
        with self._lock:
            most = self._session.most_keys if self._session is not None else _MOST_KEYS
        for at in range(0, len(keys), most):
            part = keys[at:at + most]
            there = self._where(part)
            for place in there:
                if not place:
                    return count
                count += 1
            if len(there) < len(part):
                return count
        return count

    def _where(self, keys: Sequence[bytes]) -> list[str]:
        """Where each page is: host, below, or empty text; an empty list without an agent."""
        session = self._now()
        if session is None or not keys:
            return []
        reply = self._results([self._begin("Exist", messages.ExistRequest(session=session.name, namespace=self._namespace, keys=keys))])[0]
        present = messages.Whereabouts.Store.Value("STORE_PRESENT")
        return [] if reply is None else ["host" if one.host else "below" if one.disk or one.store == present else "" for one in reply.blocks]

    def get(self, keys: Sequence[bytes], sinks: Sequence[Sink]) -> list[bool]:
        """Reads pages; those after the first one that is not there are not read. True for each whose sink has taken its bytes."""
        done = [False] * len(keys)
        at = 0
        while at < len(keys):
            session = self._now()
            if session is None:
                break
            count = min(session.reads.most, len(keys) - at)
            read = self._get(session, keys[at:at + count], sinks[at:at + count])
            done[at:at + read] = [True] * read
            at += read
            if read < count:
                break
        self._count("pages_read", sum(done))
        self._count("pages_missed", len(done) - sum(done))
        return done

    def _get(self, session: _Session, keys: Sequence[bytes], sinks: Sequence[Sink]) -> int:
        places = self._where(keys)
        wanted = next((i for i, place in enumerate(places) if not place), len(places))
        pages = session.reads.take(wanted, time.monotonic() + self._call) if wanted else []
        if not pages:
            return 0
        waits = self._attempts(session, wanted)
        for wait, page in zip(waits, pages):
            wait.page = page
        open_pages: set[int] = set()
        try:
            on_host = [i for i in range(wanted) if places[i] == "host"]
            below = [i for i in range(wanted) if places[i] != "host"]
            arrived = self._fetch_and_load(session, [(waits[i], keys[i]) for i in below], open_pages)
            arrived |= self._read(session, [(waits[i], keys[i]) for i in on_host], open_pages)
            count = 0
            for wait, sink in zip(waits, sinks):
                if wait.page not in arrived or session.over:
                    break
                sink(session.staging.page(wait.page))
                count += 1
            return count
        finally:
            self._forget(session, waits)
            if open_pages:  # the agent may still write there: such a page is used again by the next session alone
                self._count("pages_left", len(open_pages))
                self._stream.again()
            session.reads.give_back(page for page in pages if page not in open_pages)

    def _read(self, session: _Session, blocks: Sequence[tuple[_Wait, bytes]], open_pages: set[int]) -> set[int]:
        if not blocks:
            return set()
        call = self._begin("Read", messages.ReadRequest(
            session=session.name, namespace=self._namespace, blocks=[self._block(wait, key) for wait, key in blocks], wait_ms=0))
        reply = self._results([call])[0]
        if reply is None:
            if self._may_go_on(call):
                open_pages.update(wait.page for wait, _ in blocks)
            return set()
        return {wait.page for (wait, _), status in zip(blocks, reply.blocks) if status.done}

    def _fetch_and_load(self, session: _Session, blocks: Sequence[tuple[_Wait, bytes]], open_pages: set[int]) -> set[int]:
        """Has pages of disk, store or another node brought to the host, and reads them there."""
        if not blocks:
            return set()
        until = time.monotonic() + self._fetch
        answers = self._results(self._submits(session, [wait for wait, _ in blocks], [key for _, key in blocks], True))
        loads, loaded = [], []
        below_threshold = messages.OFFER_REASON_BELOW_THRESHOLD
        for (wait, key), answer in zip(blocks, answers):
            if answer is None:
                continue
            offer = answer.offer if answer.HasField("offer") else None
            if offer is None and wait.done.wait(max(0.0, until - time.monotonic())):
                offer = wait.offer
            if offer is not None and offer.reason == below_threshold and not self._threshold_said:
                self._threshold_said = True
                LOG.warning("tierlog: the policy fetches no single blocks: publish one with prefetch_threshold 0")
            if offer is not None and offer.lease and offer.sources:
                loads.append(self._begin("Load", messages.LoadRequest(
                    session=session.name, request=wait.name, attempt=1, namespace=self._namespace, lease=offer.lease,
                    blocks=[self._block(wait, key)])))
                loaded.append(wait)
        arrived = set()
        for wait, call, reply in zip(loaded, loads, self._results(loads)):
            if reply is None:
                if self._may_go_on(call):
                    open_pages.add(wait.page)
            elif reply.loaded == 1:
                arrived.add(wait.page)
        self._results([self._begin("Cancel", messages.CancelRequest(session=session.name, request=wait.name, attempt=1)) for wait, _ in blocks])
        return arrived

    def put(self, keys: Sequence[bytes], sources: Sequence[Source]) -> list[bool]:
        """Saves pages; True for each that is there afterwards, or was before."""
        done = [False] * len(keys)
        at = 0
        while at < len(keys):
            session = self._now()
            if session is None:
                break
            count = min(session.writes.most, len(keys) - at)
            saved = self._put(session, keys[at:at + count], sources[at:at + count])
            done[at:at + count] = saved
            at += count
        self._count("pages_saved", sum(done))
        self._count("pages_not_saved", len(done) - sum(done))
        return done

    def _put(self, session: _Session, keys: Sequence[bytes], sources: Sequence[Source]) -> list[bool]:
        places = self._where(keys)
        if not places:
            return [False] * len(keys)
        done = [bool(place) for place in places]
        missing = [i for i, there in enumerate(done) if not there]
        pages = session.writes.take(len(missing), time.monotonic() + self._call) if missing else []
        if not pages:
            return done
        waits = self._attempts(session, len(missing))
        free: list[int] = []
        try:
            for wait, page, i in zip(waits, pages, missing):
                wait.page = page
                sources[i](session.staging.page(page))
            blocks = [(wait, keys[i]) for wait, i in zip(waits, missing)]
            self._results(self._submits(session, waits, [keys[i] for i in missing], False))
            self._results([self._begin("Sealed", messages.SealedRequest(
                session=session.name, request=wait.name, attempt=1, namespace=self._namespace, root=key, blocks=[self._block(wait, key)]))
                for wait, key in blocks])
            saves = self._results([self._begin("Save", messages.SaveRequest(
                session=session.name, request=wait.name, attempt=1, namespace=self._namespace, blocks=[self._block(wait, key)]))
                for wait, key in blocks])
            for i, reply in zip(missing, saves):
                done[i] = reply is not None and reply.blocks[0].done
            self._results([self._begin("Finish", messages.FinishRequest(
                session=session.name, request=wait.name, attempt=1, outcome=messages.FinishRequest.Outcome.Value("OUTCOME_COMPLETED")))
                for wait in waits])
            until = time.monotonic() + self._call
            free = [wait.page for wait in waits if wait.done.wait(max(0.0, until - time.monotonic()))]
            return done
        finally:
            self._forget(session, waits)
            session.writes.give_back(free)
            if len(free) < len(pages) and not session.over:  # pages that the agent does not give back end the session, which frees all of them
                self._count("pages_left", len(pages) - len(free))
                self._stream.again()

    def forget(self, namespace: str) -> None:
        """Goes on in another namespace: what was saved is not found any more."""
        self._namespace = namespace

    def close(self) -> None:
        """Ends the session and both threads."""
        self._memory.close()
        self._stream.close()
        self._over("closed")
        self._nothing.close()
