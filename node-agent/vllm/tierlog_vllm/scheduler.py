# SPDX-License-Identifier: Apache-2.0
"""The scheduler side: owns the session, looks prompts up, decides what is loaded and saved, and says when vLLM may free blocks.

Called by vLLM's one scheduler thread; the session's thread only brings notices. Nothing here waits for the agent longer than ``bound``.
"""
from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import takewhile
from typing import Any, Iterable, Optional

import grpc

from tierlog.messages import messages
from tierlog.stream import NoticeStream, refusal
from tierlog_vllm.compat import LOG
from tierlog_vllm.metadata import Attempt, Block, End, Load, Prefilled, Seal, TierlogMetadata
from tierlog_vllm.metrics import Counts
from tierlog_vllm.settings import OLD_AGENT_BLOCKS, Settings

_CALL_S = 5.0
#: A request's name has at most 256 bytes, and vLLM's own name for it may have any characters.
_NAME_CHARACTERS = 128
#: How long the questions of one step wait for the agent's answers, all together, before vLLM has to ask again in its next step.
_ANSWER_S = 0.005
#: How long requests wait for the first registration with an agent that is there.
_BEGINNING_S = 2.0
#: So many late answers in a row, and the agent is not asked for so many seconds.
_MOST_LATE, _SLOW_S = 2, 1.0


class State(Enum):
    """Of the lookup of a request."""

    NEW = 0       # nothing submitted
    ASKING = 1    # Submit is under way
    WAITING = 2   # the agent fetches; a Ready notice follows
    OFFERED = 3   # blocks are pinned on the host, under a lease
    LOADING = 4   # a load has been ordered
    SETTLED = 5   # nothing is to be loaded; the attempt goes on, so that its blocks can be saved
    PLAIN = 6     # no attempt: plain vLLM


@dataclass
class Tracked:
    """A request from its first question to its end."""

    request: Any
    state: State = State.NEW
    number: int = 0
    name: str = ""
    attempt: Optional[Attempt] = None
    superseded: Optional[Attempt] = None  # its offer is pinned until the agent has the next attempt
    asked_at: float = 0.0
    submitted_at: float = 0.0
    offered_at: float = 0.0
    call: Any = None
    early: Any = None        # an offer that has overtaken the answer "waiting"
    keys: list[bytes] = field(default_factory=list)
    first: int = 0
    offered: int = 0
    lease: str = ""
    answered: int = 0        # blocks that the device had at the last answer
    blocks: list[int] = field(default_factory=list)
    running: bool = False
    computed: int = 0        # tokens, once the step under way has ended
    sealed_to: int = 0
    sealed: bool = False     # a Seal has been ordered for the attempt
    prefilled: bool = False
    loads: list[Block] = field(default_factory=list)
    loading: bool = False    # ordered, and not named by the workers yet
    device_blocks: int = 0
    loaded_blocks: int = 0
    preemptions: int = 0


@dataclass(frozen=True)
class Content:
    """What a device page holds, as the agent knows it."""

    namespace: str
    session: str
    block: Block
    parent: bytes


class SchedulerSide:
    """See the module."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._requests: dict[str, Tracked] = {}
        self._by_attempt: dict[tuple[str, int], Tracked] = {}
        self._serial = 0
        self._orders = TierlogMetadata()
        self._pages: dict[int, Content] = {}
        self._calls: set[Any] = set()
        self._held: set[str] = set()
        self._generation = time.time_ns() // 1_000  # higher than in any earlier process of this engine
        self._session = ""
        self._namespace = ""
        self._prompt_blocks = OLD_AGENT_BLOCKS  # what the agent takes of a prompt; the rest is left to vLLM
        self._call_blocks = OLD_AGENT_BLOCKS
        self._cuts = False                      # whether the agent takes the first blocks of longer prompts, and counts the rest
        self._registered = False
        self._ever_registered = False
        self._step_until: Optional[float] = None      # until then the step under way waits for answers
        self._said = ""
        self._late = 0
        self._slow_until = 0.0
        self.counts = Counts()
        self._began = time.monotonic()
        open_request = messages.OpenRequest(instance=settings.instance)
        self._stream = NoticeStream(settings.agent, "tierlog-session", lambda calls: calls.Open(open_request), self._notice, self._over)

    # --- the session, on its own thread

    def _notice(self, notice: Any) -> None:
        kind = notice.WhichOneof("notice")
        with self._lock:
            if kind == "opened":
                opened = notice.opened
                self._session, self._registered, self._began = opened.session, False, time.monotonic()
                self._prompt_blocks, self._cuts = opened.prompt_blocks or OLD_AGENT_BLOCKS, opened.prompt_blocks > 0
                self._call_blocks = opened.call_blocks or OLD_AGENT_BLOCKS
            elif kind == "registered":
                self._namespace = f"{self._settings.namespace};layout={notice.registered.layout}"
                self._registered = self._ever_registered = True
                self._said = ""
                LOG.info("tierlog: session %s is ready, %d pages, namespace %s", self._session, notice.registered.pages, self._namespace)
            elif kind == "ready":
                self._ready(notice.ready)
            elif kind == "failed":
                self.counts.add("blocks_not_saved", len(notice.failed.pages))

    def _ready(self, ready: Any) -> None:
        tracked = self._by_attempt.get((ready.request, ready.attempt))
        if tracked is not None and tracked.state is State.WAITING:
            self._take(tracked, ready.offer)
        elif tracked is not None and tracked.state is State.ASKING:
            tracked.early = ready.offer
        elif ready.offer.lease:
            self._release(ready.offer.lease)

    def _end_session(self) -> None:
        self._session, self._registered = "", False
        self._pages.clear()
        for tracked in self._requests.values():
            tracked.superseded = None
            if tracked.state in (State.ASKING, State.WAITING, State.OFFERED):
                self._forget_attempt(tracked, State.NEW)
            elif tracked.attempt is not None:
                self._forget_attempt(tracked, State.LOADING if tracked.loading else State.PLAIN)

    def _over(self, reason: str) -> None:
        with self._lock:
            self._end_session()
            if reason != self._said:
                self._said = reason
                LOG.warning("tierlog: no session with the agent at %s, vLLM goes on without it: %s", self._settings.agent, reason)

    def _forget_attempt(self, tracked: Tracked, state: State) -> None:
        if tracked.attempt is not None:
            self._by_attempt.pop((tracked.attempt.name, tracked.attempt.number), None)
        tracked.attempt, tracked.state, tracked.lease, tracked.call, tracked.early = None, state, "", None, None
        tracked.sealed = False

    # --- calls whose answers are not waited for

    def _release(self, lease: str) -> None:
        self._send("Release", messages.ReleaseRequest(session=self._session, lease=lease))

    def _cancel(self, attempt: Attempt) -> None:
        self._send("Cancel", messages.CancelRequest(session=attempt.session, request=attempt.name, attempt=attempt.number))

    def _send(self, name: str, request: Any) -> None:
        try:
            call = getattr(self._stream.calls, name).future(request, timeout=_CALL_S)
        except (grpc.RpcError, ValueError):
            return  # the channel is closed: the session has ended, and with it what this call would end
        self._calls.add(call)  # grpc cancels a call that nothing refers to
        call.add_done_callback(self._calls.discard)

    # --- lookup

    def matched(self, request: Any, device_tokens: int) -> tuple[Optional[int], bool]:
        """See ``get_num_new_matched_tokens``."""
        tokens = self._settings.block_tokens
        with self._lock:
            if self._step_until is None:
                self._step_until = time.monotonic() + _ANSWER_S
            deadline = self._step_until
            tracked = self._requests.get(request.request_id)
            if tracked is None:
                tracked = self._requests[request.request_id] = Tracked(request, asked_at=time.monotonic())
                tracked.preemptions = getattr(request, "num_preemptions", 0)
            tracked.request = request
            self._notice_preemption(tracked)
            if device_tokens % tokens:
                return 0, False
            held = min(device_tokens // tokens, self._prompt_blocks)
            if tracked.state is State.OFFERED and not self._still_good(tracked, held):
                tracked.superseded = tracked.attempt  # the next attempt ends this one, and its lease
                self._forget_attempt(tracked, State.NEW)
            if tracked.state is State.NEW:
                answer = self._submit(tracked, held)
                if answer is not None:
                    return answer
        if tracked.state is State.ASKING and not self._fetches(request):
            tracked.state = State.SETTLED
            return 0, False
        self._await(tracked, deadline)
        with self._lock:
            return self._answer(tracked, held)

    def _still_good(self, tracked: Tracked, held: int) -> bool:
        return held >= tracked.first and time.monotonic() - tracked.offered_at < self._settings.offer

    @staticmethod
    def _fetches(request: Any) -> bool:
        """False for requests that need the logits of their whole prompt: echo and prompt log probabilities."""
        if getattr(request, "skip_reading_prefix_cache", False):
            return False
        parameters = getattr(request, "sampling_params", None)
        return getattr(parameters, "prompt_logprobs", None) is None

    @staticmethod
    def _trace(request: Any) -> Optional[list[tuple[str, str]]]:
        """The W3C trace context of the request, where vLLM traces it. gRPC refuses header values that are not printable ASCII."""
        headers = getattr(request, "trace_headers", None) or {}
        return [(name.lower(), value) for name, value in headers.items()
                if name.lower() in ("traceparent", "tracestate") and value.isascii() and value.isprintable()] or None

    def _submit(self, tracked: Tracked, held: int) -> Optional[tuple[Optional[int], bool]]:
        """Begins an attempt; an answer when there is none to begin."""
        request, tokens = tracked.request, self._settings.block_tokens
        whole = min(request.num_tokens // tokens, self._prompt_blocks)
        keys = list(request.block_hashes[:whole])
        if whole == 0 or len(keys) < whole or len(request.block_hashes) > request.num_tokens // tokens or held > whole \
                or not all(isinstance(key, bytes) and 8 <= len(key) <= 32 for key in keys):
            self._give_up(tracked)
            return 0, False
        if not self._registered:
            # An agent that was away before is not waited for. One that is there may need longer than the bound for the first session.
            begins = not self._ever_registered and self._stream.connected and time.monotonic() - self._began < _BEGINNING_S
            if not begins and (self._stream.ends or time.monotonic() - max(tracked.asked_at, self._began) > self._settings.bound):
                self._give_up(tracked)
                self.counts.add("requests_without_agent")
                return 0, False
            return None, False
        if time.monotonic() < self._slow_until:
            self._give_up(tracked)
            self.counts.add("requests_without_agent")
            return 0, False
        tracked.number += 1
        if not tracked.name.startswith(self._session):
            self._serial += 1
            tracked.name = f"{self._session}.{self._serial}.{request.request_id!a}"[:_NAME_CHARACTERS]
        tracked.attempt = Attempt(self._session, request.request_id, tracked.name, tracked.number, self._namespace)
        tracked.keys, tracked.first, tracked.offered, tracked.lease = keys, held, 0, ""
        tracked.sealed, tracked.prefilled = False, False
        self._by_attempt[(tracked.name, tracked.number)] = tracked
        prompt_tokens = request.num_tokens if self._cuts else min(request.num_tokens, (whole + 1) * tokens - 1)
        submit = messages.SubmitRequest(
            session=self._session, request=tracked.name, attempt=tracked.number, namespace=self._namespace, keys=keys,
            prompt_tokens=prompt_tokens, block_tokens=tokens, device_blocks=held, reuse_eligible=self._fetches(request),
            prefill_ns_per_token=self._settings.prefill_ns_per_token)
        tracked.state, tracked.submitted_at = State.ASKING, time.monotonic()
        try:
            tracked.call = self._stream.calls.Submit.future(
                submit, timeout=max(self._settings.bound, _ANSWER_S) + 0.01, metadata=self._trace(request))
        except (grpc.RpcError, ValueError):
            self._give_up(tracked)
            return 0, False
        self.counts.add("requests_submitted")
        self.counts.add("blocks_beyond", request.num_tokens // tokens - whole)
        return None

    def _await(self, tracked: Tracked, deadline: float) -> None:
        call = tracked.call
        if tracked.state is State.ASKING and call is not None:
            try:
                reply = call.result(timeout=max(0.0, deadline - time.monotonic()))
            except grpc.FutureTimeoutError:
                return
            except (grpc.RpcError, grpc.FutureCancelledError) as e:
                with self._lock:
                    if tracked.state is State.ASKING and tracked.call is call:
                        LOG.debug("tierlog: request %s is not looked up: %s", tracked.request.request_id, refusal(e))
                        self.counts.add("lookups_failed")
                        if getattr(e, "code", lambda: None)() is grpc.StatusCode.DEADLINE_EXCEEDED:
                            self._answers_late()
                        self._give_up(tracked)  # the agent may have the attempt all the same
                return
            with self._lock:
                if tracked.state is not State.ASKING or tracked.call is not call:
                    return
                self._late, tracked.superseded = 0, None
                if reply.HasField("offer"):
                    self._take(tracked, reply.offer)
                elif tracked.early is not None:
                    self._take(tracked, tracked.early)
                else:
                    tracked.state, tracked.call = State.WAITING, None

    def _take(self, tracked: Tracked, offer: Any) -> None:
        tracked.call, tracked.early, tracked.lease = None, None, offer.lease
        tracked.first, tracked.offered, tracked.offered_at = offer.first_index, len(offer.sources), time.monotonic()
        tracked.state = State.OFFERED if tracked.offered else State.SETTLED
        self.counts.add("blocks_offered", tracked.offered)

    def _answer(self, tracked: Tracked, held: int) -> tuple[Optional[int], bool]:
        now, tokens = time.monotonic(), self._settings.block_tokens
        if tracked.state is State.ASKING:
            if now - tracked.submitted_at <= self._settings.bound:
                return None, False
            self._answers_late()
            self._give_up(tracked)
        elif tracked.state is State.WAITING:
            if now - tracked.submitted_at <= self._settings.lookup:
                return None, False
            self.counts.add("lookups_late")
            tracked.state = State.SETTLED  # a Ready that comes now is released
        elif tracked.state is State.NEW:  # the session has ended meanwhile
            tracked.state = State.PLAIN
        if tracked.state is not State.OFFERED:
            return 0, False
        # The last token is always computed: vLLM needs its logits.
        most = min(tracked.first + tracked.offered, (tracked.request.num_tokens - 1) // tokens)
        tracked.answered = held
        if most <= held:
            self._release_offer(tracked)
            return 0, False
        return (most - held) * tokens, self._settings.async_load

    def _answers_late(self) -> None:
        self.counts.add("lookups_late")
        self._late += 1
        if self._late >= _MOST_LATE:
            self._late, self._slow_until = 0, time.monotonic() + _SLOW_S

    def _give_up(self, tracked: Tracked) -> None:
        call, attempts = tracked.call, (tracked.superseded, tracked.attempt)
        self._forget_attempt(tracked, State.PLAIN)
        tracked.superseded = None
        if call is not None:
            call.cancel()
        for attempt in attempts:
            if attempt is not None:
                self._cancel(attempt)

    def _release_offer(self, tracked: Tracked) -> None:
        if tracked.lease:
            self._release(tracked.lease)
        tracked.lease, tracked.offered, tracked.state = "", 0, State.SETTLED

    # --- commitment

    def allocated(self, request: Any, blocks: Any, external_tokens: int) -> None:
        """See ``update_state_after_alloc``."""
        with self._lock:
            tracked = self._requests.get(request.request_id)
            if tracked is None:
                return
            if external_tokens == 0:
                if tracked.state is State.OFFERED:
                    self._release_offer(tracked)
                return
            if tracked.state is State.LOADING and tracked.loading:
                return
            tokens = self._settings.block_tokens
            ids = blocks.get_block_ids()
            pages = list(ids[0] if ids and isinstance(ids[0], (list, tuple)) else ids)
            begin = tracked.answered
            indexes = range(begin, begin + external_tokens // tokens)
            # When the session has ended since the answer, the load is ordered all the same: the workers then report every block as failed.
            attempt = tracked.attempt or Attempt("", request.request_id, request.request_id, tracked.number, "")
            chosen = []
            for index in indexes:
                self._generation += 1
                chosen.append(Block(index, tracked.keys[index], pages[index], self._generation))
            self._given_away(pages[begin:begin + len(chosen)])
            self._orders.loads.append(Load(attempt, tracked.lease, chosen, not self._settings.async_load))
            tracked.lease, tracked.loads = "", chosen
            tracked.state, tracked.loading = State.LOADING, self._settings.async_load
            tracked.loaded_blocks = len(chosen)
            if not self._settings.async_load:
                self._remember(tracked, chosen)

    def _given_away(self, pages: Iterable[int]) -> None:
        """These pages get other content: the agent no longer finds there what it held."""
        gone: dict[str, list[Any]] = {}
        for page in pages:
            content = self._pages.pop(page, None)
            if content is not None and content.session == self._session:
                gone.setdefault(content.namespace, []).append(messages.EvictedBlock(
                    index=content.block.index, key=content.block.key, parent=content.parent, page=page, generation=content.block.generation))
        for namespace, blocks in gone.items():
            for at in range(0, len(blocks), self._call_blocks):
                self._send("Evicted", messages.EvictedRequest(
                    session=self._session, namespace=namespace, blocks=blocks[at:at + self._call_blocks]))

    def _remember(self, tracked: Tracked, blocks: Iterable[Block]) -> None:
        attempt = tracked.attempt
        if attempt is not None:
            for block in blocks:
                parent = tracked.request.block_hashes[block.index - 1] if block.index else b""
                self._pages[block.page] = Content(attempt.namespace, attempt.session, block, parent)

    # --- a step

    def build(self, out: Any) -> TierlogMetadata:
        """See ``build_connector_meta``."""
        with self._lock:
            orders, self._orders = self._orders, TierlogMetadata()
            orders.session, orders.tokens = self._session, bool(out.num_scheduled_tokens)
            self._step_until = None
            for name in getattr(out, "preempted_req_ids", None) or ():
                tracked = self._requests.get(name)
                if tracked is not None and tracked.running:
                    self._preempted(tracked)
            for tracked in self._requests.values():
                self._notice_preemption(tracked)
            for new in out.scheduled_new_reqs:
                self._scheduled(new.req_id, new.block_ids, new.num_computed_tokens, whole=True)
            cached = out.scheduled_cached_reqs
            resumed = getattr(cached, "resumed_req_ids", None)
            flags = getattr(cached, "resumed_from_preemption", None)
            for i, name in enumerate(cached.req_ids):
                again = name in resumed if resumed is not None else bool(flags and flags[i])
                self._scheduled(name, cached.new_block_ids[i], cached.num_computed_tokens[i], whole=again)
            for name, count in out.num_scheduled_tokens.items():
                tracked = self._requests.get(name)
                if tracked is not None and tracked.running:
                    self._advance(tracked, count, orders)
            orders.preempted += self._orders.preempted
            orders.ends += self._orders.ends
            self._orders = TierlogMetadata()
            return orders

    def _notice_preemption(self, tracked: Tracked) -> None:
        count = getattr(tracked.request, "num_preemptions", 0)
        status = getattr(getattr(tracked.request, "status", None), "name", "")
        if tracked.running and (count > tracked.preemptions or status == "PREEMPTED"):
            self._preempted(tracked)
        tracked.preemptions = count

    def _preempted(self, tracked: Tracked) -> None:
        """Its blocks are free from now on: what reads them must be over before the step runs."""
        if tracked.attempt is not None:
            self._orders.preempted.append(End(tracked.attempt, "PREEMPTED", self._generated(tracked), hold=False))
        self._forget_attempt(tracked, State.NEW)
        tracked.running, tracked.blocks, tracked.loading, tracked.loads, tracked.loaded_blocks = False, [], False, [], 0
        tracked.asked_at = time.monotonic()

    def _scheduled(self, name: str, block_ids: Any, computed: int, whole: bool) -> None:
        tracked = self._requests.get(name)
        if tracked is None:
            return
        ids = list(block_ids[0] if block_ids and isinstance(block_ids[0], (list, tuple)) else block_ids or ())
        held = computed // self._settings.block_tokens
        if whole or not tracked.running:
            tracked.running, tracked.blocks, tracked.sealed_to = True, [], held
            tracked.device_blocks = held - (tracked.loaded_blocks if tracked.loads else 0)
            if tracked.state is State.OFFERED:  # scheduled without a call about it
                self._release_offer(tracked)
        tracked.sealed_to = min(tracked.sealed_to, held)  # vLLM computes again what followed a block that was not loaded
        fresh = ids[max(0, held - len(tracked.blocks)):]
        tracked.blocks += ids
        tracked.computed = computed
        self._given_away(fresh)

    def _advance(self, tracked: Tracked, count: int, orders: TierlogMetadata) -> None:
        tokens, request, attempt = self._settings.block_tokens, tracked.request, tracked.attempt
        done = tracked.computed + count
        tracked.computed = done
        if attempt is None:
            return
        # Tokens that are not known yet (drafts, and those of a step under way) are in no whole block.
        whole = min(min(done, request.num_tokens) // tokens, len(request.block_hashes), len(tracked.blocks),
                    self._prompt_blocks)
        # A newer vLLM says how many of the hashes may be stored by now.
        publishable = getattr(request, "num_publishable_block_hashes", None)
        if publishable is not None:
            whole = min(whole, int(publishable))
        if whole > tracked.sealed_to:
            blocks = []
            for index in range(tracked.sealed_to, whole):
                self._generation += 1
                blocks.append(Block(index, request.block_hashes[index], tracked.blocks[index], self._generation))
            parent = request.block_hashes[tracked.sealed_to - 1] if tracked.sealed_to else b""
            orders.seals.append(Seal(attempt, request.block_hashes[0], parent, blocks))
            self._remember(tracked, blocks)
            tracked.sealed_to, tracked.sealed = whole, True
        prompt = len(tracked.keys) * tokens
        if not tracked.prefilled and done >= prompt:
            tracked.prefilled = True
            computed = max(0, len(tracked.keys) - tracked.device_blocks - tracked.loaded_blocks)
            orders.prefilled.append(Prefilled(attempt, max(0, tracked.device_blocks), tracked.loaded_blocks, computed))

    @staticmethod
    def _generated(tracked: Tracked) -> int:
        return max(0, tracked.request.num_tokens - getattr(tracked.request, "num_prompt_tokens", tracked.request.num_tokens))

    # --- ends

    def output(self, finished_sending: Iterable[str], finished_recving: Iterable[str], failed: set[int]) -> None:
        """See ``update_connector_output``."""
        with self._lock:
            self._held -= set(finished_sending)
            if failed:  # before the workers name the load, or with it
                for tracked in self._requests.values():
                    if tracked.loading:
                        tracked.loads = list(takewhile(lambda block: block.page not in failed, tracked.loads))
            for name in finished_recving:
                tracked = self._requests.get(name)
                if tracked is not None and tracked.loading:
                    tracked.loading = False
                    self._remember(tracked, tracked.loads)
                    tracked.loaded_blocks = len(tracked.loads)
                    if tracked.attempt is None:
                        tracked.state = State.PLAIN

    def finished(self, request: Any) -> bool:
        """See ``request_finished``: whether vLLM keeps the blocks until a worker names the request."""
        with self._lock:
            tracked = self._requests.pop(request.request_id, None)
            if tracked is None:
                return False
            attempt, state, loading, sealed = tracked.attempt, tracked.state, tracked.loading, tracked.sealed
            cancelled = "ABORT" in getattr(getattr(request, "status", None), "name", "")
            if state in (State.ASKING, State.WAITING, State.OFFERED) and not sealed:
                self._give_up(tracked)
                return False
            generated = self._generated(tracked)
            self._forget_attempt(tracked, State.PLAIN)
            if attempt is None:
                return loading
            if loading:
                # vLLM frees the blocks when the workers name the load as received; the attempt ends after it.
                self._orders.ends.append(End(attempt, "CANCELLED", generated, hold=False))
                return True
            self._orders.ends.append(End(attempt, "CANCELLED" if cancelled else "COMPLETED", generated, hold=sealed))
            if sealed:
                self._held.add(request.request_id)
            return sealed

    def holds(self) -> bool:
        """Whether vLLM keeps blocks of finished requests for the agent."""
        with self._lock:
            return bool(self._held)

    def reset(self) -> None:
        """The weights may have changed: nothing that was saved before may be found again, and nothing of before may be saved."""
        with self._lock:
            before = self._settings.namespace.split(";reset=")[0]
            self._settings = replace(self._settings, namespace=f"{before};reset={time.time_ns():x}")
            self._end_session()
        self._stream.again()

    def close(self) -> None:
        """Ends the session: the agent frees everything that it held for this engine."""
        self._stream.close()

