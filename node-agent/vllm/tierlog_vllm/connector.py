# SPDX-License-Identifier: Apache-2.0
"""The connector that vLLM makes twice: in the scheduler process and in each worker. It only passes calls on to the side that it is."""
from __future__ import annotations

from dataclasses import replace
from typing import Any, Iterable, Optional

from tierlog_vllm import metrics, settings
from tierlog_vllm.compat import LOG, KVConnectorBase_V1, KVConnectorMetadata, KVConnectorRole, KVConnectorStats
from tierlog_vllm.layout import pool
from tierlog_vllm.metadata import TierlogMetadata
from tierlog_vllm.scheduler import SchedulerSide
from tierlog_vllm.worker import WorkerSide


class TierlogConnector(KVConnectorBase_V1):  # type: ignore[misc]
    """Loads the KV of prompts from Tierlog and saves it there. Needs no GPU to be imported.

    Whole blocks move, so the hooks of single layers do nothing, and CUDA graphs of any kind can be used.
    """

    def __init__(self, vllm_config: Any, role: Any, kv_cache_config: Any = None) -> None:
        try:
            super().__init__(vllm_config, role, kv_cache_config)
        except TypeError:  # before vLLM 0.11 the base took two arguments
            super().__init__(vllm_config, role)
        self._settings = settings.read(vllm_config, kv_cache_config, role.name == KVConnectorRole.SCHEDULER.name)
        self._scheduler: Optional[SchedulerSide] = None
        self._worker: Optional[WorkerSide] = None
        self._saved: Optional[TierlogMetadata] = None
        self._prevented: Optional[TierlogMetadata] = None
        if role.name == KVConnectorRole.SCHEDULER.name:
            self._scheduler = SchedulerSide(self._settings)

    # --- what vLLM wants to know of the connector

    @property
    def prefer_cross_layer_blocks(self) -> bool:
        """One copy for a block instead of one for each layer."""
        return True

    @property
    def requires_kv_delivery(self) -> bool:
        """A cache: a save that is dropped is a later miss, and nothing else."""
        return False

    @classmethod
    def requires_piecewise_for_cudagraph(cls, extra_config: dict[str, Any]) -> bool:  # pylint: disable=unused-argument
        return False

    @classmethod
    def get_required_kvcache_layout(cls, vllm_config: Any) -> Optional[str]:  # pylint: disable=unused-argument
        return None

    def get_finished_count(self) -> Optional[int]:
        """Every worker names a request."""
        return None

    # --- scheduler

    def on_new_request(self, request: Any) -> None:
        """Nothing yet: an offer pins host pages, so it is asked for when the request is at the head of the queue."""

    def get_num_new_matched_tokens(self, request: Any, num_computed_tokens: int) -> tuple[Optional[int], bool]:
        return self._scheduler.matched(request, num_computed_tokens) if self._scheduler else (0, False)

    def update_state_after_alloc(self, request: Any, blocks: Any, num_external_tokens: int) -> None:
        if self._scheduler:
            self._scheduler.allocated(request, blocks, num_external_tokens)

    def build_connector_meta(self, scheduler_output: Any) -> KVConnectorMetadata:
        return self._scheduler.build(scheduler_output) if self._scheduler else TierlogMetadata()

    def update_connector_output(self, connector_output: Any) -> None:
        if self._scheduler:
            self._scheduler.output(connector_output.finished_sending or (), connector_output.finished_recving or (),
                                   set(getattr(connector_output, "invalid_block_ids", None) or ()))

    def request_finished(self, request: Any, block_ids: list[int]) -> tuple[bool, Optional[dict[str, Any]]]:  # pylint: disable=unused-argument
        return bool(self._scheduler and self._scheduler.finished(request)), None

    def has_pending_push_work(self) -> bool:
        """vLLM keeps stepping while it holds blocks for the agent, so that it learns when they are free."""
        return bool(self._scheduler and self._scheduler.holds())

    def take_events(self) -> Iterable[Any]:
        """None: what Tierlog stores is in its own directory, see ``tierlog bridge``."""
        return ()

    def reset_cache(self) -> bool:
        if self._scheduler:
            self._scheduler.reset()
        return True

    # --- worker

    def register_kv_caches(self, kv_caches: dict[str, Any]) -> None:
        self._register(kv_caches, False)

    def register_cross_layers_kv_cache(self, kv_cache: Any, attn_backend: Any) -> None:  # pylint: disable=unused-argument
        self._register({"all": kv_cache}, True)

    def _register(self, tensors: dict[str, Any], cross_layer: bool) -> None:
        if self._worker:  # vLLM has made its caches again, after sleep or a reload of weights
            self._worker.close()
        self._worker = WorkerSide(self._rank(), pool(tensors, self._settings.num_blocks, cross_layer))

    def _rank(self) -> settings.Settings:
        """A worker knows its rank for certain only now."""
        parallel = getattr(self._vllm_config, "parallel_config", None)
        rank = getattr(parallel, "rank", None)
        return self._settings if rank is None else replace(self._settings, rank=rank % self._settings.ranks)

    def handle_preemptions(self, kv_connector_metadata: Any) -> None:
        if self._worker and isinstance(kv_connector_metadata, TierlogMetadata):
            self._prevented = kv_connector_metadata
            self._worker.preempt(kv_connector_metadata)

    def _orders(self) -> Optional[TierlogMetadata]:
        orders = self._connector_metadata
        return orders if isinstance(orders, TierlogMetadata) else None

    def start_load_kv(self, forward_context: Any, **kwargs: Any) -> None:  # pylint: disable=unused-argument
        orders = self._orders()
        if self._worker and orders is not None:
            if self._prevented is not orders:  # a vLLM that does not call handle_preemptions, or calls it without the orders
                self._prevented = orders
                self._worker.preempt(orders)
            self._worker.start(orders)

    def wait_for_layer_load(self, layer_name: str) -> None:
        """Whole blocks are loaded before the step, or between steps."""

    def save_kv_layer(self, layer_name: str, kv_layer: Any, attn_metadata: Any, **kwargs: Any) -> None:
        """Whole blocks are saved after the step."""

    def wait_for_save(self) -> None:
        """Waits for nothing: pages are not given to other content before their saves are over."""
        self._finish_step()

    def _finish_step(self) -> None:
        orders = self._orders()
        if self._worker and orders is not None and self._saved is not orders:
            self._saved = orders
            self._worker.finish_step(orders)

    def get_finished(self, finished_req_ids: set[str]) -> tuple[Optional[set[str]], Optional[set[str]]]:  # pylint: disable=unused-argument
        if not self._worker:
            return None, None
        orders = self._orders()
        if orders is None or not orders.tokens:
            self._finish_step()  # a step without tokens has no wait_for_save; in one with tokens draft layers may still write
        sent, received = self._worker.finished()
        return sent or None, received or None

    def get_block_ids_with_load_errors(self) -> set[int]:
        return self._worker.load_errors() if self._worker else set()

    # --- both

    def get_kv_connector_stats(self) -> Optional[KVConnectorStats]:
        side = self._scheduler or self._worker
        return side.counts.take() if side else None

    @classmethod
    def build_kv_connector_stats(cls, data: Optional[dict[str, Any]] = None) -> KVConnectorStats:
        return metrics.TierlogStats(data=data if data is not None else {})

    @classmethod
    def build_prom_metrics(cls, vllm_config: Any, metric_types: Any, labelnames: list[str], per_engine_labelvalues: dict[int, list[object]]) -> Any:
        return metrics.prometheus(vllm_config, metric_types, labelnames, per_engine_labelvalues)

    def shutdown(self) -> None:
        for side in (self._scheduler, self._worker):
            if side:
                side.close()
        self._scheduler = self._worker = None
        LOG.debug("tierlog: closed")
