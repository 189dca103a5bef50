# SPDX-License-Identifier: Apache-2.0
"""SGLang's classes where SGLang is installed, and small ones of the same names where it is not, so that tests need no SGLang."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

try:
    from sglang.srt.mem_cache.hicache_storage import HiCacheStorage
    HAVE_SGLANG = True
except ImportError:
    HAVE_SGLANG = False

    class HiCacheStorage:  # type: ignore[no-redef]
        """What the backend uses of SGLang's base class."""

        mem_pool_host: Any = None

        def register_mem_pool_host(self, mem_pool_host: Any) -> None:
            self.mem_pool_host = mem_pool_host

        def register_mem_host_pool_v2(self, host_pool: Any, host_pool_name: Any) -> None:
            if not hasattr(self, "registered_pools"):
                self.registered_pools: dict[Any, Any] = {}
            self.registered_pools[host_pool_name] = host_pool

try:
    from sglang.srt.mem_cache.hicache_storage import PoolTransferResult
except ImportError:
    @dataclass
    class PoolTransferResult:  # type: ignore[no-redef]
        """Pages that are there: of the KV pool, and of each further pool."""

        kv_hit_pages: int
        extra_pool_hit_pages: dict[str, int]

__all__ = ["HAVE_SGLANG", "HiCacheStorage", "PoolTransferResult"]
