# SPDX-License-Identifier: Apache-2.0
"""Counts of an interval, in vLLM's form."""
from __future__ import annotations

import threading
from typing import Any

from tierlog_vllm.compat import KVConnectorStats

#: Every count, with what it means. All are numbers that add up.
COUNTERS = {
    "requests_submitted": "Attempts of requests whose prompts were looked up.",
    "blocks_beyond": "Blocks of looked-up prompts after those that the agent takes: they are left to vLLM.",
    "requests_without_agent": "Requests that went on without the agent, since it was away.",
    "lookups_failed": "Lookups that the agent refused, or that failed.",
    "lookups_late": "Lookups whose answer took longer than their bound.",
    "blocks_offered": "Blocks that the agent offered.",
    "blocks_loaded": "Blocks that were loaded to the device.",
    "blocks_failed": "Blocks whose load failed, so that vLLM computes them.",
    "load_seconds": "Seconds that loads took, all together.",
    "loads": "Loads that ended.",
    "blocks_sealed": "Blocks that were handed over to be saved.",
    "blocks_not_saved": "Blocks whose save failed.",
    "saves_abandoned": "Attempts whose blocks could not be saved within the time that they could be kept.",
    "preemptions_waited_seconds": "Seconds that preemptions waited for saves, all together.",
}


class TierlogStats(KVConnectorStats):
    """Counts since the last call; they aggregate over workers by addition."""

    def reset(self) -> None:
        self.data.clear()

    def is_empty(self) -> bool:
        return not self.data

    def aggregate(self, other: KVConnectorStats) -> KVConnectorStats:
        for name, value in other.data.items():
            self.data[name] = self.data.get(name, 0) + value
        return self

    def reduce(self) -> dict[str, Any]:
        return {name: round(value, 6) if isinstance(value, float) else value for name, value in self.data.items()}


class Counts:
    """Safe for use by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._data: dict[str, float] = {}

    def add(self, name: str, count: float = 1) -> None:
        if name not in COUNTERS:
            raise KeyError(name)
        if count:
            with self._lock:
                self._data[name] = self._data.get(name, 0) + count

    def take(self) -> TierlogStats:
        """What was counted since the last call. Never None: vLLM takes the counts of the scheduler only with those of a worker."""
        with self._lock:
            data, self._data = self._data, {}
        return TierlogStats(data=data)


def prometheus(vllm_config: Any, metric_types: Any, labelnames: list[str], per_engine_labelvalues: dict[int, list[object]]) -> Any:
    """The counts as Prometheus counters ``vllm:tierlog_NAME``, where vLLM has a form for them; else None."""
    try:
        from prometheus_client import Counter
        from vllm.distributed.kv_transfer.kv_connector.v1.metrics import KVConnectorPromMetrics
    except ImportError:
        return None

    class TierlogPrometheus(KVConnectorPromMetrics):  # type: ignore[misc,valid-type]
        """One counter for each count and engine."""

        def __init__(self) -> None:
            super().__init__(vllm_config, metric_types, labelnames, per_engine_labelvalues)
            counter = metric_types[Counter]
            self._counters = {
                name: {engine: family.labels(*values) for engine, values in per_engine_labelvalues.items()}
                for name, family in ((name, counter(name=f"vllm:tierlog_{name}", documentation=text, labelnames=labelnames))
                                     for name, text in COUNTERS.items())}

        def observe(self, transfer_stats_data: dict[str, Any], engine_idx: int = 0) -> None:
            for name, value in transfer_stats_data.items():
                if name in self._counters:
                    self._counters[name][engine_idx].inc(value)

    return TierlogPrometheus()
