# SPDX-License-Identifier: Apache-2.0
"""The storage backend that SGLang's HiCache makes in each scheduler process, by ``--hicache-storage-backend dynamic``."""
from __future__ import annotations

import hashlib
import logging
import os
import re
import time
from typing import Any, Callable, Optional, Sequence

from tierlog.pages import Pages, Sink, Source
from tierlog_sglang.compat import HiCacheStorage, PoolTransferResult

LOG = logging.getLogger("tierlog")

_DEFAULT_AGENT = "127.0.0.1:7070"
_OPTIONS = {"agent", "namespace", "instance", "fetch_ms", "call_ms", "staging_pages", "block_tokens",
            # SGLang's own, for a backend that it loads by name.
            "backend_name", "module_path", "class_name", "interface_v1"}
_KV = "kv"
_ALL_PAGES = "all_pages"


def _bytes(tensor: Any) -> memoryview:
    """The bytes of a tensor of the CPU, without a copy where they lie in a row."""
    import torch
    flat = tensor.detach().contiguous().view(-1).view(torch.uint8)
    return memoryview(flat.numpy())


def _key(text: str) -> bytes:
    """SGLang names a page by 64 hexadecimal digits; any other name is hashed."""
    if re.fullmatch(r"[0-9a-f]{64}", text):
        return bytes.fromhex(text)
    return hashlib.sha256(text.encode()).digest()


class TierlogStorage(HiCacheStorage):
    """Pages of HiCache in Tierlog. An agent that is away or slow costs misses, never an error."""

    def __init__(self, storage_config: Any, kwargs: Optional[dict[str, Any]] = None) -> None:  # pylint: disable=unused-argument
        extra = dict(getattr(storage_config, "extra_config", None) or {})
        unknown = {name for name in extra if name not in _OPTIONS and not name.startswith(("prefetch_", "hicache_"))}
        if unknown:
            LOG.warning("tierlog: hicache-storage-backend-extra-config has options that are not known: %s; known are %s", sorted(unknown),
                        sorted(_OPTIONS))
        rank = int(getattr(storage_config, "tp_rank", 0) or 0)
        self._agent = str(extra.get("agent") or _DEFAULT_AGENT).replace("{rank}", str(rank))
        self._instance = re.sub(r"[^A-Za-z0-9._-]", "-", str(extra.get("instance") or f"sglang-{os.getpid()}"))[:64]
        self._options = {"fetch_s": float(extra.get("fetch_ms", 2_000)) / 1000, "call_s": float(extra.get("call_ms", 5_000)) / 1000,
                         "staging": int(extra.get("staging_pages", 64))}
        self._tokens = int(extra.get("block_tokens", 0))
        self._config, self._own = storage_config, str(extra.get("namespace") or "")
        self._life = ""
        self._pages: Optional[Pages] = None
        self.registered_pools: dict[Any, Any] = {}

    # --- what pages are

    def _namespace(self) -> str:
        """All that must match for bytes to mean the same: SGLang's hashes have tokens alone in them."""
        config, pool = self._config, getattr(self, "mem_pool_host", None)

        def of(name: str, default: Any = None) -> Any:
            return getattr(config, name, default)

        parts = {"model": of("model_name"), "tokens": self._tokens, "layout": getattr(pool, "layout", None),
                 "dtype": str(getattr(pool, "dtype", "")).replace("torch.", ""),
                 "tp": None if of("is_mla_model") else f"{of('tp_rank', 0)}/{of('tp_size', 1)}",
                 "pp": f"{of('pp_rank', 0)}/{of('pp_size', 1)}" if (of("pp_size", 1) or 1) > 1 else None,
                 "cp": f"{of('attn_cp_rank', 0)}/{of('attn_cp_size', 1)}" if (of("attn_cp_size", 1) or 1) > 1 else None,
                 "heads": of("tp_lcm_size") if of("should_split_heads") else None, "life": self._life}
        text = ";".join(f"{name}={value}" for name, value in parts.items() if value not in (None, ""))
        if len(text) > 400:
            text = "sha256=" + hashlib.sha256(text.encode()).hexdigest()
        return (f"{self._own};" if self._own else "") + "sglang;" + text

    def _client(self) -> Pages:
        if self._pages is None:
            if not self._tokens:
                self._tokens = int(getattr(getattr(self, "mem_pool_host", None), "page_size", 0) or 1)
            self._pages = Pages(self._agent, self._instance, self._namespace(), self._tokens, **self._options)  # type: ignore[arg-type]
            self._pages.await_ready(1.0)
        return self._pages

    def register_mem_pool_host(self, mem_pool_host: Any) -> None:
        super().register_mem_pool_host(mem_pool_host)
        self._client()

    def register_mem_host_pool_v2(self, host_pool: Any, host_pool_name: Any) -> None:
        super().register_mem_host_pool_v2(host_pool, host_pool_name)

    # --- bytes in and out

    def _fits(self, size: int) -> bool:
        most = self._client().page_bytes
        if 0 < most < size:
            LOG.warning("tierlog: a page has %d bytes, and the agent moves blocks of %d: start it with --bytes-per-block %dB", size, most, size)
        return size <= most

    @staticmethod
    def _source(page: memoryview) -> Source:
        def write(view: memoryview) -> None:
            view[:len(page)] = page
            view[len(page):] = bytes(len(view) - len(page))  # a shorter page, of a pool besides the KV
        return write

    @staticmethod
    def _sink(page: memoryview) -> Sink:
        def read(view: memoryview) -> None:
            page[:] = view[:len(page)]
        return read

    def _put(self, keys: Sequence[str], pages: Sequence[Any]) -> list[bool]:
        views = [_bytes(page) for page in pages]
        if not views or not self._fits(max(len(view) for view in views)):
            return [False] * len(keys)
        return self._client().put([_key(key) for key in keys], [self._source(view) for view in views])

    def _get(self, keys: Sequence[str], targets: Sequence[Any]) -> list[bool]:
        """Reads into tensors of the CPU; one that does not lie in a row by way of a copy."""
        rows = [target if target.is_contiguous() else target.contiguous() for target in targets]
        views = [_bytes(row) for row in rows]
        if not views or not self._fits(max(len(view) for view in views)):
            return [False] * len(keys)
        done = self._client().get([_key(key) for key in keys], [self._sink(view) for view in views])
        for target, row, there in zip(targets, rows, done):
            if there and row is not target:
                target.copy_(row)
        return done

    # --- HiCache's interface: pages as tensors

    def exists(self, key: str) -> bool:
        return self.batch_exists([key]) == 1

    def batch_exists(self, keys: list[str], extra_info: Any = None) -> int:  # pylint: disable=unused-argument
        return self._client().found([_key(key) for key in keys])

    def get(self, key: str, target_location: Any = None, target_sizes: Any = None) -> Any:  # pylint: disable=unused-argument
        return self.batch_get([key], [target_location])[0]

    def batch_get(self, keys: list[str], target_locations: Any = None, target_sizes: Any = None) -> list[Any]:  # pylint: disable=unused-argument
        """The tensors of ``target_locations`` with the bytes in them; None for a page that is not there, and for all after it."""
        if not keys or target_locations is None or any(target is None for target in target_locations):
            return [None] * len(keys)
        done = self._get(keys, target_locations)
        return [target if there else None for target, there in zip(target_locations, done)]

    def set(self, key: str, value: Any = None, target_location: Any = None, target_sizes: Any = None) -> bool:  # pylint: disable=unused-argument
        page = value if value is not None else target_location
        return page is not None and all(self._put([key], [page]))

    def batch_set(self, keys: list[str], values: Any = None, target_locations: Any = None,  # pylint: disable=unused-argument
                  target_sizes: Any = None) -> bool:
        pages = values if values is not None else target_locations
        return pages is not None and len(pages) == len(keys) and all(self._put(keys, pages))

    # --- pages by their place in the host pool

    @staticmethod
    def _starts(pool: Any, keys: Sequence[str], host_indices: Any) -> list[Any]:
        size = int(pool.page_size)
        return [host_indices[i * size] for i in range(len(keys))]

    def _set_from(self, pool: Any, keys: list[str], host_indices: Any) -> list[bool]:
        return self._put(keys, [pool.get_data_page(start, flat=True) for start in self._starts(pool, keys, host_indices)]) if keys else []

    def _get_into(self, pool: Any, keys: list[str], host_indices: Any) -> list[bool]:
        if not keys:
            return []
        pages = [pool.get_dummy_flat_data_page() for _ in keys]
        done = self._get(keys, pages)
        for start, page, there in zip(self._starts(pool, keys, host_indices), pages, done):
            if there:
                pool.set_from_flat_data_page(start, page)
        return done

    def batch_get_v1(self, keys: list[str], host_indices: Any, extra_info: Any = None) -> list[bool]:  # pylint: disable=unused-argument
        return self._get_into(self.mem_pool_host, keys, host_indices)

    def batch_set_v1(self, keys: list[str], host_indices: Any, extra_info: Any = None) -> list[bool]:  # pylint: disable=unused-argument
        return self._set_from(self.mem_pool_host, keys, host_indices)

    # --- several pools: the KV, and what belongs to it

    def _pool(self, name: Any) -> Any:
        pools = self.registered_pools
        return pools.get(name, pools.get(str(name), self.mem_pool_host if str(name) == _KV else None))

    @staticmethod
    def _named(keys: Sequence[str], name: Any) -> list[str]:
        return list(keys) if str(name) == _KV else [f"{key}.{name}" for key in keys]

    def _each(self, transfers: Sequence[Any], move: Callable[[Any, list[str], Any], list[bool]]) -> dict[str, list[bool]]:
        done = {}
        for transfer in transfers:
            keys, pool = list(transfer.keys or ()), self._pool(transfer.name)
            known = pool is not None and transfer.host_indices is not None
            done[transfer.name] = move(pool, self._named(keys, transfer.name), transfer.host_indices) if known else [False] * len(keys)
        return done

    def batch_exists_v2(self, keys: list[str], pool_transfers: Any = None, extra_info: Any = None) -> Any:  # pylint: disable=unused-argument
        usable = self.batch_exists(keys)
        hits: dict[str, int] = {}
        for transfer in pool_transfers or ():
            if getattr(transfer.hit_policy, "value", str(transfer.hit_policy)) == _ALL_PAGES:
                there = self.batch_exists(self._named(keys[:usable], transfer.name))
            else:  # the last pages of the prefix; a shorter prefix that has them is as good
                last = max(1, len(transfer.keys or ()))
                there = usable
                while there and self.batch_exists(self._named(keys[max(0, there - last):there], transfer.name)) < min(last, there):
                    there -= 1
            usable = min(usable, there)
            hits[transfer.name] = there
        return PoolTransferResult(usable, {name: min(there, usable) for name, there in hits.items()})

    def batch_get_v2(self, transfers: list[Any], extra_info: Any = None) -> dict[str, list[bool]]:  # pylint: disable=unused-argument
        return self._each(transfers, self._get_into)

    def batch_set_v2(self, transfers: list[Any], extra_info: Any = None) -> dict[str, list[bool]]:  # pylint: disable=unused-argument
        return self._each(transfers, self._set_from)

    # --- the rest

    def clear(self) -> None:
        """What was saved is not found any more: the backend goes on in a namespace of its own."""
        self._life = f"{time.time_ns():x}"
        self._client().forget(self._namespace())

    def get_stats(self) -> None:
        """SGLang wants its own class; the counts are in ``counts``."""

    @property
    def counts(self) -> dict[str, int]:
        """Pages read, missed, saved, not saved, and left to the agent."""
        return dict(self._pages.counts) if self._pages else {}

    def close(self) -> None:
        """Ends the session with the agent."""
        if self._pages is not None:
            self._pages.close()
            self._pages = None
