# SPDX-License-Identifier: Apache-2.0
"""What the connector reads of vLLM's configuration, checked once."""
from __future__ import annotations

import hashlib
import os
import re
import uuid
from dataclasses import dataclass
from typing import Any, Mapping, Optional

from tierlog_vllm.compat import LOG

DEFAULT_AGENT = "127.0.0.1:7070"
#: Blocks of a prompt, and of a call, that an agent takes which says nothing of them in its first notice; such an agent refuses longer prompts.
OLD_AGENT_BLOCKS = 4_096
_MOST_PREFILL_NS = 1_000_000_000
_STABLE_HASH = "sha256_cbor"
_NO_PREFIX_CACHE = ("Mamba", "SlidingWindow", "ChunkedLocal", "CrossAttention")
_OPTIONS = {"agent", "namespace", "instance", "bound_ms", "lookup_ms", "offer_ms", "load_ms", "preemption_ms", "hold_ms", "async_load",
            "prefill_ns_per_token"}


class SettingsError(ValueError):
    """The configuration cannot work; the message says what to change."""


@dataclass(frozen=True)
class Settings:
    """Times are in seconds; the options of the same names with ``_ms`` are in milliseconds."""

    agent: str
    instance: str
    #: All that must match for KV to be reusable, but for the layout of the device memory, which the workers know.
    namespace: str
    #: Whether other engines can find the blocks; otherwise they are of this process alone.
    shared: bool
    block_tokens: int
    num_blocks: int
    rank: int
    ranks: int
    #: Longest time that a request waits for an agent that does not answer.
    bound: float = 0.05
    #: Longest time that a request waits for a fetch from a colder tier.
    lookup: float = 1.0
    #: Longest time that an offer pins host pages while its request waits in vLLM's queue.
    offer: float = 30.0
    #: Longest time of a load.
    load: float = 10.0
    #: Longest time that a preemption waits for its blocks to be saved before they are abandoned.
    preemption: float = 0.2
    #: Longest time that the pages of a finished request are kept for its blocks to be saved.
    hold: float = 15.0
    async_load: bool = True
    #: What it costs to compute a token of a prompt, in nanoseconds; 0 when it is not known.
    prefill_ns_per_token: int = 0


def _get(config: Any, *names: str) -> Any:
    for name in names:
        config = getattr(config, name, None)
        if config is None:
            return None
    return config


def _number(extra: Mapping[str, Any], name: str, default: float) -> float:
    value = extra.get(name, default * 1000)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 3_600_000:
        raise SettingsError(f"kv_connector_extra_config.{name} is {value!r}: a number of milliseconds from above 0 to 3,600,000 is needed")
    return value / 1000


def _prefill_cost(extra: Mapping[str, Any]) -> int:
    value = extra.get("prefill_ns_per_token", 0)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_PREFILL_NS:
        raise SettingsError(f"kv_connector_extra_config.prefill_ns_per_token is {value!r}: a whole number of nanoseconds from 0 (not known) to "
                            f"{_MOST_PREFILL_NS:,} is needed")
    return value


def _group(kv_cache_config: Any, vllm_config: Any) -> tuple[int, int]:
    """Tokens of a block and number of blocks of the one KV group."""
    groups = getattr(kv_cache_config, "kv_cache_groups", None)
    if groups is not None and len(groups) != 1:
        raise SettingsError(f"TierlogConnector serves models with one KV cache group, this one has {len(groups)} (a hybrid model): "
                            "start vLLM without --kv-transfer-config for it")
    tokens = _get(vllm_config, "cache_config", "block_size")
    if groups:
        spec = groups[0].kv_cache_spec
        kind = type(spec).__name__
        if kind.startswith(_NO_PREFIX_CACHE):
            raise SettingsError(f"TierlogConnector serves full attention and MLA, not {kind}: start vLLM without --kv-transfer-config for it")
        hashed = tokens
        tokens = getattr(spec, "block_size", None) or tokens
        if hashed and hashed != tokens:
            raise SettingsError(f"vLLM hashes blocks of {hashed} tokens and stores blocks of {tokens}: set --block-size {tokens}")
    for name in ("decode_context_parallel_size", "prefill_context_parallel_size"):
        if (_get(vllm_config, "parallel_config", name) or 1) > 1:
            raise SettingsError(f"{name} above 1 is not supported: it spreads the tokens of a block over ranks")
    if (_get(vllm_config, "parallel_config", "pipeline_parallel_size") or 1) > 1:
        raise SettingsError("pipeline_parallel_size above 1 is not supported: its stages have different layers, and all ranks of a session "
                            "need the same: use tensor parallelism, or start vLLM without --kv-transfer-config")
    blocks = getattr(kv_cache_config, "num_blocks", None) or _get(vllm_config, "cache_config", "num_gpu_blocks") or 0
    if not tokens or tokens < 1:
        raise SettingsError("vLLM's configuration has no block size")
    return int(tokens), int(blocks)


def _stable_keys(vllm_config: Any, environment: Mapping[str, str]) -> Optional[str]:
    """Why vLLM's block hashes mean nothing in another process; None when they do."""
    algorithm = _get(vllm_config, "cache_config", "prefix_caching_hash_algo")
    if algorithm != _STABLE_HASH:
        return f"--prefix-caching-hash-algo is {algorithm}, {_STABLE_HASH} is needed"
    if not re.fullmatch(r"\d+", environment.get("PYTHONHASHSEED", "")):
        return "PYTHONHASHSEED is not set to a number, and must be the same for all engines"
    return None


def _namespace(vllm_config: Any, extra: Mapping[str, Any], tokens: int, life: Optional[str]) -> str:
    model = _get(vllm_config, "model_config", "model")
    parts = {
        "model": model,
        "revision": _get(vllm_config, "model_config", "revision"),
        "dtype": str(_get(vllm_config, "model_config", "dtype")).replace("torch.", ""),
        "quantization": _get(vllm_config, "model_config", "quantization"),
        "kv": _get(vllm_config, "cache_config", "cache_dtype"),
        "tokens": tokens,
        "tp": _get(vllm_config, "parallel_config", "tensor_parallel_size") or 1,
        "pp": _get(vllm_config, "parallel_config", "pipeline_parallel_size") or 1,
        "hash": _get(vllm_config, "cache_config", "prefix_caching_hash_algo"),
        "seed": os.environ.get("PYTHONHASHSEED") if life is None else None,
    }
    own = extra.get("namespace") or ""
    text = ";".join(f"{name}={value}" for name, value in parts.items() if value not in (None, ""))
    if len(text) > 400:  # a namespace has at most 1,024 bytes, and a model may be a long path
        text = "sha256=" + hashlib.sha256(text.encode()).hexdigest()
    whole = (f"{own};" if own else "") + "vllm;" + text + (f";life={life}" if life else "")
    if len(whole.encode()) > 900:
        raise SettingsError(f"kv_connector_extra_config.namespace is too long: {len(own)} characters, at most 400")
    return whole


def read(vllm_config: Any, kv_cache_config: Any = None, scheduler: bool = True) -> Settings:
    """Reads vLLM's configuration.

    :raises SettingsError: with what to change
    """
    transfer = vllm_config.kv_transfer_config
    extra: Mapping[str, Any] = getattr(transfer, "kv_connector_extra_config", None) or {}
    unknown = set(extra) - _OPTIONS
    if unknown and scheduler:
        LOG.warning("tierlog: kv_connector_extra_config has options that are not known: %s; known are %s", sorted(unknown), sorted(_OPTIONS))
    tokens, blocks = _group(kv_cache_config, vllm_config)
    why = _stable_keys(vllm_config, os.environ)
    life = uuid.uuid4().hex[:16] if why else None
    if scheduler and why:
        LOG.warning("tierlog: blocks are not shared with other engines and not found after a restart: %s", why)
    if scheduler and getattr(transfer, "kv_load_failure_policy", None) != "recompute":
        LOG.warning("tierlog: kv_load_failure_policy is %s: a block that cannot be loaded fails its request. Set it to recompute.",
                    getattr(transfer, "kv_load_failure_policy", None))
    async_load = bool(extra.get("async_load", True))
    if not async_load and _get(vllm_config, "scheduler_config", "async_scheduling"):
        async_load = True
        if scheduler:
            LOG.warning("tierlog: async_load false is not used with --async-scheduling: the next step begins before a failed load is known. "
                        "Requests wait for their loads beside running ones.")
    engine = getattr(transfer, "engine_id", None)
    instance = extra.get("instance") or (f"vllm-{engine}" if engine else f"vllm-{uuid.uuid4().hex}")
    instance = re.sub(r"[^A-Za-z0-9._-]", "-", str(instance))
    if len(instance) > 64:
        instance = "vllm-" + hashlib.sha256(instance.encode()).hexdigest()[:32]
    ranks = _get(vllm_config, "parallel_config", "world_size") or 1
    rank = (_get(vllm_config, "parallel_config", "rank") or 0) % ranks
    return Settings(
        agent=str(extra.get("agent") or DEFAULT_AGENT), instance=instance, namespace=_namespace(vllm_config, extra, tokens, life),
        shared=why is None, block_tokens=tokens, num_blocks=blocks, rank=int(rank), ranks=int(ranks),
        bound=_number(extra, "bound_ms", 0.05), lookup=_number(extra, "lookup_ms", 1.0), offer=_number(extra, "offer_ms", 30.0),
        load=_number(extra, "load_ms", 10.0), preemption=_number(extra, "preemption_ms", 0.2), hold=_number(extra, "hold_ms", 15.0),
        async_load=async_load, prefill_ns_per_token=_prefill_cost(extra))
