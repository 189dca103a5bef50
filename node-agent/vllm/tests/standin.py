# SPDX-License-Identifier: Apache-2.0
"""A stand-in for vLLM that calls a connector in vLLM's order: a scheduler with a block pool and a prefix cache, and workers with real tensors.

Every token has bytes of its own, derived from all tokens before it, and every step compares what it would attend to with them. So a wrong byte in any
page that vLLM takes for computed is found, wherever it came from.
"""
from __future__ import annotations

import enum
import hashlib
import pickle
import random
from collections import OrderedDict
from types import SimpleNamespace
from typing import Any, Callable, Optional

import numpy
import torch

from tierlog_vllm.compat import KVConnectorRole
from tierlog_vllm.connector import TierlogConnector

TOKENS, HEADS, DIM = 4, 2, 8  # tokens of a block, heads and their size


class Status(enum.Enum):
    WAITING = 0
    WAITING_FOR_REMOTE_KVS = 1
    RUNNING = 2
    PREEMPTED = 3
    FINISHED_STOPPED = 4
    FINISHED_ABORTED = 5


class Request:
    def __init__(self, request_id: str, prompt: list[int], new_tokens: int, prompt_logprobs: Optional[int] = None,
                 trace_headers: Optional[dict[str, str]] = None) -> None:
        self.trace_headers = trace_headers
        self.request_id, self.num_prompt_tokens, self.new_tokens = request_id, len(prompt), new_tokens
        self.tokens: list[int] = []
        self.prefixes: list[bytes] = []   # digest of all tokens up to each
        self.block_hashes: list[bytes] = []
        self.status, self.num_computed_tokens, self.num_preemptions = Status.WAITING, 0, 0
        self.sampling_params = SimpleNamespace(prompt_logprobs=prompt_logprobs)
        self.skip_reading_prefix_cache = prompt_logprobs is not None
        self.random = random.Random(request_id)
        for token in prompt:
            self.append(token)

    def append(self, token: int) -> None:
        before = self.prefixes[-1] if self.prefixes else b""
        self.tokens.append(token)
        self.prefixes.append(hashlib.sha256(before + token.to_bytes(4, "little")).digest())
        if len(self.tokens) % TOKENS == 0:
            self.block_hashes.append(hashlib.sha256(b"block" + self.prefixes[-1]).digest())

    @property
    def num_tokens(self) -> int:
        return len(self.tokens)


class Pool:
    """vLLM's block pool: reference counts, a free list in LRU order, and a prefix cache."""

    def __init__(self, blocks: int) -> None:
        self.references = [0] * blocks
        self.free: OrderedDict[int, None] = OrderedDict((block, None) for block in range(1, blocks))  # block 0 is vLLM's null block
        self.hash_of: dict[int, bytes] = {}
        self.block_of: dict[bytes, int] = {}

    def cached(self, request: Request) -> list[int]:
        found = []
        for key in request.block_hashes[:(request.num_tokens - 1) // TOKENS]:
            if key not in self.block_of:
                break
            found.append(self.block_of[key])
        return found

    def take(self, block: int) -> None:
        self.references[block] += 1
        self.free.pop(block, None)

    def allocate(self, count: int) -> Optional[list[int]]:
        if count > len(self.free):
            return None
        blocks = [self.free.popitem(last=False)[0] for _ in range(count)]
        for block in blocks:
            self.references[block] = 1
            key = self.hash_of.pop(block, None)
            if key is not None and self.block_of.get(key) == block:
                del self.block_of[key]
        return blocks

    def cache(self, key: bytes, block: int) -> None:
        if key not in self.block_of and block not in self.hash_of:
            self.block_of[key], self.hash_of[block] = block, key

    def release(self, blocks: list[int]) -> None:
        for block in reversed(blocks):
            self.references[block] -= 1
            assert self.references[block] >= 0, "a block was freed twice"
            if self.references[block] == 0:
                self.free[block] = None

    def evict_cached(self) -> None:
        self.hash_of.clear()
        self.block_of.clear()


def tensors(kind: str, blocks: int, layers: int, seed: int = 0) -> tuple[dict[str, torch.Tensor], bool]:
    """KV tensors in one of vLLM's layouts, as permuted views; and whether it is one for all layers."""
    width = 2 * DIM
    names = [f"model.layers.{i}.attn" for i in range(layers)]
    if kind == "split":      # (2, blocks, tokens, heads, dim): until May 2026
        return {name: torch.zeros(2, blocks, TOKENS, HEADS, DIM, dtype=torch.int16) for name in names}, False
    if kind == "joined":     # (blocks, 2, tokens, heads, dim)
        return {name: torch.zeros(blocks, 2, TOKENS, HEADS, DIM, dtype=torch.int16) for name in names}, False
    if kind == "nhd":        # (blocks, heads, tokens, 2 * dim), in memory (blocks, tokens, heads, 2 * dim)
        return {name: torch.zeros(blocks, TOKENS, HEADS, width, dtype=torch.int16).permute(0, 2, 1, 3) for name in names}, False
    if kind == "hnd":
        return {name: torch.zeros(blocks, HEADS, TOKENS, width, dtype=torch.int16) for name in names}, False
    if kind == "mla":        # (blocks, tokens, dim)
        return {name: torch.zeros(blocks, TOKENS, HEADS * width, dtype=torch.int16) for name in names}, False
    if kind == "one-buffer":  # all layers in one allocation, one after the other
        whole = torch.zeros(layers, blocks, HEADS, TOKENS, width, dtype=torch.int16)
        return {name: whole[i] for i, name in enumerate(names)}, False
    assert kind == "cross"   # (layers, blocks, heads, tokens, 2 * dim), in memory blocks first
    return {"all": torch.zeros(blocks, layers, TOKENS, HEADS, width, dtype=torch.int16).permute(1, 0, 3, 2, 4)}, True


def block_bytes(layers: int) -> int:
    return layers * TOKENS * HEADS * 2 * DIM * 2


class Worker:
    """One rank: real tensors, and a model that writes a token's own bytes and reads those of all before it."""

    def __init__(self, config: Any, kv_config: Any, kind: str, layers: int, rank: int) -> None:
        self.rank, self.layers, self.kind = rank, layers, kind
        self.tensors, self.cross = tensors(kind, kv_config.num_blocks, layers)
        self.connector = TierlogConnector(config, KVConnectorRole.WORKER, kv_config)
        if self.cross:
            self.connector.register_cross_layers_kv_cache(self.tensors["all"], None)
        else:
            self.connector.register_kv_caches(self.tensors)

    def _slot(self, layer: int, block: int, at: int) -> torch.Tensor:
        """The elements of a token, as a view of HEADS * 2 * DIM elements."""
        if self.cross:
            return self.tensors["all"][layer, block, :, at, :]
        tensor = self.tensors[f"model.layers.{layer}.attn"]
        if self.kind == "split":
            return tensor[:, block, at, :, :]
        if self.kind == "joined":
            return tensor[block, :, at, :, :]
        return tensor[block, at, :] if self.kind == "mla" else tensor[block, :, at, :]

    def _bytes(self, request: Request, at: int, layer: int) -> torch.Tensor:
        seed = hashlib.shake_128(request.prefixes[at] + bytes([layer, self.rank])).digest(HEADS * 2 * DIM * 2)
        return torch.from_numpy(numpy.frombuffer(seed, dtype=numpy.int16).copy())

    def compute(self, request: Request, blocks: list[int], begin: int, end: int) -> None:
        for at in range(begin):
            for layer in range(self.layers):
                slot = self._slot(layer, blocks[at // TOKENS], at % TOKENS)
                assert torch.equal(slot.reshape(-1), self._bytes(request, at, layer)), \
                    f"wrong bytes: request {request.request_id} token {at} layer {layer} rank {self.rank} block {blocks[at // TOKENS]}"
        for at in range(begin, end):
            for layer in range(self.layers):
                slot = self._slot(layer, blocks[at // TOKENS], at % TOKENS)
                slot.copy_(self._bytes(request, at, layer).reshape(slot.shape))

    def scribble(self, block: int) -> None:
        """What a model leaves in a block that it has only begun."""
        for layer in range(self.layers):
            for at in range(TOKENS):
                self._slot(layer, block, at).fill_(-1)


def config(agent: str, **extra: Any) -> Any:
    """What the connector reads of vLLM's configuration."""
    ranks = extra.pop("ranks", 1)
    engine = extra.pop("engine", "e0")
    return SimpleNamespace(
        kv_transfer_config=SimpleNamespace(kv_connector_extra_config={"agent": agent, **extra}, engine_id=engine,
                                           kv_load_failure_policy="recompute", is_kv_producer=True),
        cache_config=SimpleNamespace(block_size=TOKENS, cache_dtype="auto", prefix_caching_hash_algo="sha256_cbor", num_gpu_blocks=None),
        model_config=SimpleNamespace(model="stand-in", revision=None, dtype=torch.int16, quantization=None),
        parallel_config=SimpleNamespace(world_size=ranks, rank=0, tensor_parallel_size=ranks, pipeline_parallel_size=1))


class FullAttentionSpec(SimpleNamespace):
    pass


def kv_config(blocks: int, groups: int = 1) -> Any:
    group = SimpleNamespace(layer_names=[], kv_cache_spec=FullAttentionSpec(block_size=TOKENS))
    return SimpleNamespace(num_blocks=blocks, kv_cache_groups=[group] * groups, kv_cache_tensors=[])


class Blocks:
    def __init__(self, ids: list[int]) -> None:
        self._ids = ids

    def get_block_ids(self) -> tuple[list[int], ...]:
        return (list(self._ids),)


class Engine:
    """Scheduler and workers; ``step`` is one turn of vLLM's engine core."""

    def __init__(self, agent: str, blocks: int = 64, kind: str = "hnd", layers: int = 2, ranks: int = 1, budget: int = 64, running: int = 8,
                 **extra: Any) -> None:
        self.pool = Pool(blocks)
        kv = kv_config(blocks)
        self.workers = []
        for rank in range(ranks):  # vLLM makes the workers before the scheduler
            vllm = config(agent, ranks=ranks, **extra)
            vllm.parallel_config.rank = rank
            self.workers.append(Worker(vllm, kv, kind, layers, rank))
        self.connector = TierlogConnector(config(agent, ranks=ranks, **extra), KVConnectorRole.SCHEDULER, kv)
        self.budget, self.most_running = budget, running
        self.requests: dict[str, Request] = {}
        self.waiting: list[Request] = []
        self.running: list[Request] = []
        self.blocks: dict[str, list[int]] = {}
        self.finished_ids: set[str] = set()
        self.received: set[str] = set()
        self.failed: set[str] = set()
        self.named = {"sending": {}, "recving": {}}  # request -> ranks that have named it
        self.loaded_tokens = self.computed_tokens = self.failed_blocks = self.preemptions = 0
        self.done: dict[str, Request] = {}
        self.hits: dict[str, int] = {}
        self.on_step: Optional[Callable[[Any], None]] = None

    # --- the scheduler

    def add(self, request: Request) -> None:
        self.requests[request.request_id] = request
        self.waiting.append(request)
        self.connector.on_new_request(request)

    def abort(self, request_id: str) -> None:
        request = self.requests.get(request_id)
        if request is None or request.status in (Status.FINISHED_ABORTED, Status.FINISHED_STOPPED):
            return
        held = request.status is Status.WAITING_FOR_REMOTE_KVS and request_id not in self.received
        if request in self.running:
            self.running.remove(request)
        if request in self.waiting:
            self.waiting.remove(request)
        request.status = Status.FINISHED_ABORTED
        self._free(request, held)

    def _free(self, request: Request, held: bool) -> None:
        delayed, _ = self.connector.request_finished(request, self.blocks.get(request.request_id, []))
        self.finished_ids.add(request.request_id)
        self.done[request.request_id] = request
        if not (delayed or held):
            self._free_blocks(request.request_id)

    def _free_blocks(self, request_id: str) -> None:
        assert request_id in self.requests, f"{request_id} was named after it was freed"
        del self.requests[request_id]
        self.received.discard(request_id)
        self.failed.discard(request_id)
        self.pool.release(self.blocks.pop(request_id, []))

    def _preempt(self, request: Request) -> None:
        self.running.remove(request)
        self.pool.release(self.blocks.pop(request.request_id))
        request.status, request.num_computed_tokens = Status.PREEMPTED, 0
        request.num_preemptions += 1
        self.preemptions += 1
        self.waiting.insert(0, request)

    def _grow(self, request: Request, tokens: int) -> Optional[list[int]]:
        have = self.blocks[request.request_id]
        new = self.pool.allocate(max(0, -(-tokens // TOKENS) - len(have)))
        if new is not None:
            have += new
        return new

    def _cache(self, request: Request, tokens: int) -> None:
        for index in range(min(tokens // TOKENS, len(request.block_hashes))):
            self.pool.cache(request.block_hashes[index], self.blocks[request.request_id][index])

    def _remote_over(self, request: Request) -> bool:
        name = request.request_id
        if name not in self.received:
            return False
        self.received.remove(name)
        if name in self.failed:
            self.failed.remove(name)
            if request.num_computed_tokens == 0:
                self.pool.release(self.blocks.pop(name))
            else:
                self._cache(request, request.num_computed_tokens)
        else:
            request.num_computed_tokens = min(len(self.blocks[name]) * TOKENS, request.num_tokens)
            if request.num_computed_tokens == request.num_tokens:
                request.num_computed_tokens -= 1
            self._cache(request, request.num_computed_tokens)
        request.status = Status.PREEMPTED if request.num_preemptions else Status.WAITING
        return True

    def schedule(self) -> Any:
        budget, scheduled, preempted = self.budget, {}, set()
        new_reqs, cached = [], SimpleNamespace(req_ids=[], new_block_ids=[], num_computed_tokens=[], resumed_req_ids=set())
        for request in list(self.running):
            if request not in self.running or budget == 0:
                continue
            count = min(budget, request.num_tokens - request.num_computed_tokens)
            new = None
            while request in self.running:
                new = self._grow(request, request.num_computed_tokens + count)
                if new is not None:
                    break
                last = self.running[-1]
                if last.request_id in scheduled:
                    budget += scheduled.pop(last.request_id)
                    at = cached.req_ids.index(last.request_id)
                    for column in (cached.req_ids, cached.new_block_ids, cached.num_computed_tokens):
                        column.pop(at)
                self._preempt(last)
                preempted.add(last.request_id)
            if request in self.running and new is not None:
                scheduled[request.request_id] = count
                budget -= count
                cached.req_ids.append(request.request_id)
                cached.new_block_ids.append((new,) if new else None)
                cached.num_computed_tokens.append(request.num_computed_tokens)
        skipped = []
        while self.waiting and not preempted and budget and len(self.running) < self.most_running:
            request = self.waiting.pop(0)
            name = request.request_id
            if request.status is Status.WAITING_FOR_REMOTE_KVS and not self._remote_over(request):
                skipped.append(request)
                continue
            external, asynchronous, hits = 0, False, []
            if request.num_computed_tokens == 0:
                hits = [] if request.skip_reading_prefix_cache else self.pool.cached(request)
                external, asynchronous = self.connector.get_num_new_matched_tokens(request, len(hits) * TOKENS)
                if external is None:
                    skipped.append(request)
                    continue
                computed = len(hits) * TOKENS + external
            else:
                computed = request.num_computed_tokens
            count = 0 if asynchronous else min(budget, request.num_tokens - computed)
            for block in hits:
                self.pool.take(block)
            if name not in self.blocks:
                self.blocks[name] = list(hits)
            if self._grow(request, computed + count) is None:
                if request.num_computed_tokens == 0:
                    self.pool.release(self.blocks.pop(name))
                self.waiting.insert(0, request)
                break
            self.hits[name] = self.hits.get(name, 0) + external
            self.connector.update_state_after_alloc(request, Blocks(self.blocks[name]), external)
            if asynchronous:
                request.status = Status.WAITING_FOR_REMOTE_KVS
                skipped.append(request)
                continue
            if external:
                request.num_computed_tokens = computed
                self._cache(request, computed)
            resumed = request.status is Status.PREEMPTED
            request.status, request.num_computed_tokens = Status.RUNNING, computed
            self.running.append(request)
            scheduled[name] = count
            budget -= count
            if resumed:
                cached.req_ids.append(name)
                cached.new_block_ids.append((list(self.blocks[name]),))
                cached.num_computed_tokens.append(computed)
                cached.resumed_req_ids.add(name)
            else:
                new_reqs.append(SimpleNamespace(req_id=name, block_ids=(list(self.blocks[name]),), num_computed_tokens=computed))
        self.waiting = skipped + self.waiting
        finished, self.finished_ids = self.finished_ids, set()
        out = SimpleNamespace(scheduled_new_reqs=new_reqs, scheduled_cached_reqs=cached, num_scheduled_tokens=scheduled,
                              finished_req_ids=finished, preempted_req_ids=preempted)
        out.meta = pickle.dumps(self.connector.build_connector_meta(out))
        out.begin = {name: self.requests[name].num_computed_tokens for name in scheduled}
        for name, count in scheduled.items():
            self.requests[name].num_computed_tokens += count
            self._cache(self.requests[name], self.requests[name].num_computed_tokens)
        return out

    # --- the workers

    def execute(self, out: Any) -> Any:
        output = SimpleNamespace(finished_sending=set(), finished_recving=set(), invalid_block_ids=set())
        fresh = {name: block_ids for name, block_ids in ((n.req_id, n.block_ids) for n in out.scheduled_new_reqs)}
        assert all(isinstance(ids, tuple) for ids in fresh.values())
        for worker in self.workers:
            connector, meta = worker.connector, pickle.loads(out.meta)
            connector.handle_preemptions(meta)
            connector.bind_connector_metadata(meta)
            connector.start_load_kv(None)
            bad = {page for page in output.invalid_block_ids}
            if out.num_scheduled_tokens:
                for name, count in out.num_scheduled_tokens.items():
                    blocks = self.blocks[name]
                    if not self._touches_failed(blocks, connector):
                        worker.compute(self.requests[name], blocks, out.begin[name], out.begin[name] + count)
                connector.wait_for_save()
            sending, recving = connector.get_finished(out.finished_req_ids)
            output.invalid_block_ids = bad | connector.get_block_ids_with_load_errors() | getattr(connector, "_peeked", set())
            connector._peeked = set()
            connector.get_kv_connector_stats()
            connector.clear_connector_metadata()
            for kind, names in (("sending", sending), ("recving", recving)):
                for name in names or ():
                    ranks = self.named[kind].setdefault(name, set())
                    assert worker.rank not in ranks, f"{name} was named twice"
                    ranks.add(worker.rank)
                    if len(ranks) == len(self.workers):
                        getattr(output, f"finished_{kind}").add(name)
                        del self.named[kind][name]
        return output

    @staticmethod
    def _touches_failed(blocks: list[int], connector: Any) -> bool:
        """A synchronous load that failed is found out by the scheduler after the step: what the step computes is thrown away."""
        peeked = getattr(connector, "_peeked", set()) | connector.get_block_ids_with_load_errors()
        connector._peeked = peeked
        return bool(peeked & set(blocks))

    # --- results

    def update(self, out: Any, output: Any) -> None:
        skip = self._invalid(output.invalid_block_ids)
        for name, count in out.num_scheduled_tokens.items():
            request = self.requests.get(name)
            if request is None or request.status is not Status.RUNNING or name in skip:
                continue
            self.computed_tokens += count
            if request.num_computed_tokens >= request.num_tokens:
                if request.num_tokens - request.num_prompt_tokens >= request.new_tokens:
                    self.running.remove(request)
                    request.status = Status.FINISHED_STOPPED
                    self._free(request, False)
                else:
                    request.append(request.random.randrange(1000))
        self.connector.update_connector_output(output)
        for name in output.finished_recving:
            request = self.requests[name]
            if request.status is Status.WAITING_FOR_REMOTE_KVS:
                self.received.add(name)
            else:
                assert request.status in (Status.FINISHED_ABORTED, Status.FINISHED_STOPPED)
                self._free_blocks(name)
        for name in output.finished_sending:
            self._free_blocks(name)

    def _invalid(self, failed: set[int]) -> set[str]:
        self.failed_blocks += len(failed)
        skip = set()
        for request in self.waiting + self.running:
            name = request.request_id
            if not failed or name not in self.blocks or request.status not in (Status.WAITING_FOR_REMOTE_KVS, Status.RUNNING):
                continue
            for index, block in enumerate(self.blocks[name]):
                if block in failed and index * TOKENS < max(request.num_computed_tokens, len(self.blocks[name]) * TOKENS):
                    if request.status is Status.WAITING_FOR_REMOTE_KVS:
                        request.num_computed_tokens = index * TOKENS
                        self.failed.add(name)
                    elif index * TOKENS < request.num_computed_tokens:
                        request.num_computed_tokens = index * TOKENS
                        skip.add(name)
                        for later in self.blocks[name][index:]:
                            key = self.pool.hash_of.pop(later, None)
                            if key is not None:
                                self.pool.block_of.pop(key, None)
                    break
        return skip

    def step(self) -> None:
        out = self.schedule()
        if self.on_step:
            self.on_step(out)
        self.update(out, self.execute(out))

    def unfinished(self) -> bool:
        return bool(self.waiting or self.running or self.finished_ids or self.requests)

    def close(self) -> None:
        self.connector.shutdown()
        for worker in self.workers:
            worker.connector.shutdown()
