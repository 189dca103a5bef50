# SPDX-License-Identifier: Apache-2.0
"""What the connector reads of vLLM's configuration and tensors, and what it refuses."""
from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest
import torch

from standin import TOKENS, config, kv_config, tensors
from tierlog_vllm import settings
from tierlog_vllm.compat import KVConnectorRole
from tierlog_vllm.connector import TierlogConnector
from tierlog_vllm.layout import LayoutError, pool, table
from tierlog_vllm.settings import SettingsError


def test_pipeline_parallelism_is_refused():
    parallel = config("a")
    parallel.parallel_config.pipeline_parallel_size = 2
    with pytest.raises(SettingsError, match="pipeline_parallel_size above 1"):
        settings.read(parallel, kv_config(8))


def test_steps_that_overlap_load_beside_running_requests(caplog):
    overlapping = config("a", async_load=False)
    assert settings.read(overlapping, kv_config(8)).async_load is False
    overlapping.scheduler_config = SimpleNamespace(async_scheduling=True)
    with caplog.at_level(logging.WARNING):
        assert settings.read(overlapping, kv_config(8)).async_load is True
    assert "async_load" in caplog.text


@pytest.mark.parametrize("value", [-1, 1_000_000_001, 0.5, "20000", True, None])
def test_a_prefill_cost_that_cannot_be_is_refused(value):
    with pytest.raises(SettingsError, match="prefill_ns_per_token"):
        settings.read(config("a", prefill_ns_per_token=value), kv_config(8))


def test_the_prefill_cost_is_not_known_unless_it_is_set():
    assert settings.read(config("a"), kv_config(8)).prefill_ns_per_token == 0
    assert settings.read(config("a", prefill_ns_per_token=20_000), kv_config(8)).prefill_ns_per_token == 20_000


def test_more_than_one_group_is_refused():
    with pytest.raises(SettingsError, match="one KV cache group"):
        TierlogConnector(config("unix:/nowhere"), KVConnectorRole.SCHEDULER, kv_config(8, groups=2))


def test_keys_that_do_not_hold_elsewhere_are_of_this_process_alone(monkeypatch, caplog):
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    assert settings.read(config("a"), kv_config(8)).shared
    monkeypatch.delenv("PYTHONHASHSEED")
    with caplog.at_level(logging.WARNING):
        first, second = settings.read(config("a"), kv_config(8)), settings.read(config("a"), kv_config(8))
    assert "PYTHONHASHSEED" in caplog.text
    assert not first.shared and ";life=" in first.namespace and first.namespace != second.namespace
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    other = config("a")
    other.cache_config.prefix_caching_hash_algo = "sha256"
    assert not settings.read(other, kv_config(8)).shared


def test_the_namespace_differs_with_all_that_makes_kv_differ(monkeypatch):
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    same = settings.read(config("a"), kv_config(8)).namespace
    assert same == settings.read(config("b"), kv_config(8)).namespace
    for part, name, value in (("model_config", "model", "m2"), ("model_config", "revision", "r"), ("model_config", "dtype", "bf16"),
                              ("cache_config", "cache_dtype", "fp8"), ("parallel_config", "tensor_parallel_size", 2)):
        other = config("a")
        setattr(getattr(other, part), name, value)
        assert settings.read(other, kv_config(8)).namespace != same, name
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    assert settings.read(config("a"), kv_config(8)).namespace != same


def test_a_policy_that_fails_requests_is_warned_of(caplog):
    failing = config("a")
    failing.kv_transfer_config.kv_load_failure_policy = "fail"
    with caplog.at_level(logging.WARNING):
        settings.read(failing, kv_config(8))
    assert "recompute" in caplog.text


@pytest.mark.parametrize("kind", ["split", "joined", "nhd", "hnd", "mla", "one-buffer", "cross"])
def test_a_block_is_found_by_strides(kind):
    made, cross = tensors(kind, 9, 3)
    found = pool(made, 9, cross)
    assert found.block_bytes == 3 * TOKENS * 2 * 16 * 2
    for name, tensor in made.items():
        tensor.copy_(torch.arange(tensor.numel(), dtype=torch.int16).reshape(tensor.shape))
    for block in (0, 4, 8):
        held = bytearray()
        for _, region, first, piece in found.layers:
            memory = found.regions[region]
            with open(memory.path, "rb") as file:
                for i in range(piece.segments):
                    file.seek(first + piece.offset + block * piece.block_stride + i * piece.segment_stride)
                    held += file.read(piece.segment_bytes)
        want = []
        for tensor in made.values():
            at = {"split": 1, "cross": 1}.get(kind, 0)
            want += tensor.select(at, block).reshape(-1).tolist()
        got = torch.frombuffer(held, dtype=torch.int16).tolist()
        assert sorted(got) == sorted(want), "the bytes of the block and no others"


def test_layouts_with_other_orders_have_other_digests():
    digests = {kind: pool(*reversed_arguments(tensors(kind, 9, 3))).layout for kind in ("split", "joined", "nhd", "hnd", "mla", "cross")}
    assert digests.pop("joined") == digests["split"], "K and V apart or not, the bytes of a block are the same in the host"
    assert len(set(digests.values())) == len(digests), digests
    again = pool(*reversed_arguments(tensors("hnd", 17, 3))).layout
    assert again == digests["hnd"], "the number of blocks is no part of it"


def reversed_arguments(made):
    found, cross = made
    blocks = next(iter(found.values())).shape
    return found, (blocks[1] if cross or blocks[0] == 2 else blocks[0]), cross


def test_kernel_blocks_smaller_than_a_block_are_rows_of_it():
    found = table((20, 4, 16), (64, 16, 1), 2, 10)
    assert found.pieces[0].block_stride == 256 and found.block_bytes() == 256


def test_a_tensor_that_is_not_understood_is_refused():
    with pytest.raises(LayoutError, match="no dimension of 10 blocks"):
        table((7, 4, 16), (64, 16, 1), 2, 10)
    with pytest.raises(LayoutError, match="two ways"):
        table((2, 2, 4, 2, 8), (128, 64, 16, 8, 1), 2, 2)
