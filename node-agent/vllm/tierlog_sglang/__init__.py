# SPDX-License-Identifier: Apache-2.0
"""Tierlog as a storage backend of SGLang's HiCache."""
from tierlog_sglang.storage import TierlogStorage

__all__ = ["TierlogStorage"]
