# SPDX-License-Identifier: Apache-2.0
"""vLLM's classes where vLLM is installed, and small ones of the same names where it is not, so that tests and the doctor need no vLLM."""
from __future__ import annotations

import enum
import logging
from typing import Any, Optional

try:
    from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorBase_V1, KVConnectorMetadata, KVConnectorRole
    HAVE_VLLM = True
except ImportError:
    HAVE_VLLM = False

    class KVConnectorRole(enum.Enum):  # type: ignore[no-redef]
        """Which of its two processes a connector is in."""

        SCHEDULER = 0
        WORKER = 1

    class KVConnectorMetadata:  # type: ignore[no-redef]
        """What the scheduler side hands to the worker side in a step."""

    class KVConnectorBase_V1:  # type: ignore[no-redef]
        """What the connector uses of vLLM's base class."""

        def __init__(self, vllm_config: Any, role: KVConnectorRole, kv_cache_config: Any = None) -> None:
            self._vllm_config = vllm_config
            self._kv_transfer_config = vllm_config.kv_transfer_config
            self._kv_cache_config = kv_cache_config
            self._role = role
            self._connector_metadata: Optional[KVConnectorMetadata] = None

        @property
        def role(self) -> KVConnectorRole:
            return self._role

        def bind_connector_metadata(self, connector_metadata: KVConnectorMetadata) -> None:
            self._connector_metadata = connector_metadata

        def clear_connector_metadata(self) -> None:
            self._connector_metadata = None

        def has_connector_metadata(self) -> bool:
            return self._connector_metadata is not None

        def bind_gpu_block_pool(self, gpu_block_pool: Any) -> None:
            """Not used."""

        def set_host_xfer_buffer_ops(self, copy_operation: Any) -> None:
            """Not used."""

        def build_connector_worker_meta(self) -> None:
            """The workers report nothing but what vLLM asks for."""

        def get_kv_connector_kv_cache_events(self) -> None:
            """None, as ``take_events``."""

try:
    from vllm.distributed.kv_transfer.kv_connector.v1.metrics import KVConnectorStats
except ImportError:
    class KVConnectorStats:  # type: ignore[no-redef]
        """Counts of an interval, in a dictionary."""

        def __init__(self, data: Optional[dict[str, Any]] = None) -> None:
            self.data: dict[str, Any] = data if data is not None else {}

try:
    from vllm.logger import init_logger
    LOG = init_logger("vllm.tierlog")
except ImportError:
    LOG = logging.getLogger("tierlog")

__all__ = ["HAVE_VLLM", "KVConnectorBase_V1", "KVConnectorMetadata", "KVConnectorRole", "KVConnectorStats", "LOG"]
