# SPDX-License-Identifier: Apache-2.0
"""Tierlog as a KV connector of vLLM: ``kv_connector_module_path`` is ``tierlog_vllm``, ``kv_connector`` is ``TierlogConnector``."""
from tierlog_vllm.connector import TierlogConnector

__all__ = ["TierlogConnector"]
