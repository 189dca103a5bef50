# SPDX-License-Identifier: Apache-2.0
"""The storage backend of SGLang's HiCache against real agents: a host pool with SGLang's methods, its controller's calls, every byte compared."""
from __future__ import annotations

import hashlib
import os
import random
import threading
import time
from types import SimpleNamespace

import pytest

from processes import Agent

torch = pytest.importorskip("torch")

from tierlog_sglang import TierlogStorage  # noqa: E402

PAGE, LAYERS, WIDTH = 8, 3, 16
PAGE_BYTES = 2 * LAYERS * PAGE * WIDTH * 2  # K and V, of 16 bits


class HostPool:
    """Host memory as SGLang's pools have it: (2, layers, tokens, width), so a page does not lie in a row."""

    layout, page_size, dtype = "layer_first", PAGE, torch.float16

    def __init__(self, pages: int) -> None:
        self.buffer = torch.zeros(2, LAYERS, pages * PAGE, WIDTH, dtype=self.dtype)

    def get_data_page(self, index, flat: bool = True):
        page = self.buffer[:, :, int(index):int(index) + PAGE, :]
        return page.flatten() if flat else page

    def get_dummy_flat_data_page(self):
        return torch.zeros(PAGE_BYTES // 2, dtype=self.dtype)

    def set_from_flat_data_page(self, index, page) -> None:
        self.buffer[:, :, int(index):int(index) + PAGE, :] = page.reshape(2, LAYERS, PAGE, WIDTH)

    def fill(self, page: int, key: str) -> None:
        self.buffer[:, :, page * PAGE:(page + 1) * PAGE, :] = content(key).reshape(2, LAYERS, PAGE, WIDTH)

    def holds(self, page: int, key: str) -> bool:
        return torch.equal(self.get_data_page(page * PAGE), content(key))


def content(key: str):
    """What the page of a key must hold."""
    draw = random.Random(key)
    return torch.tensor([draw.randrange(-100, 100) for _ in range(PAGE_BYTES // 2)], dtype=torch.float16)


def chain(name: str, pages: int) -> list[str]:
    """Keys as SGLang makes them: each of the one before."""
    keys, before = [], b""
    for number in range(pages):
        before = hashlib.sha256(before + f"{name}{number}".encode()).digest()
        keys.append(before.hex())
    return keys


def indices(pages):
    return torch.tensor([page * PAGE + token for page in pages for token in range(PAGE)], dtype=torch.int64)


def config(address: str, **options):
    return SimpleNamespace(tp_rank=0, tp_size=1, pp_rank=0, pp_size=1, attn_cp_rank=0, attn_cp_size=1, is_mla_model=False, model_name="m/7b",
                           should_split_heads=False, tp_lcm_size=None,
                           extra_config={"agent": address, "backend_name": "tierlog", "module_path": "tierlog_sglang", "class_name": "TierlogStorage",
                                         "interface_v1": 1, "prefetch_threshold": 8, "call_ms": 20_000, "fetch_ms": 20_000, **options})


@pytest.fixture(scope="module")
def nodes(processes):
    """Two nodes with one store; pages are fetched one by one, so the policy must fetch single blocks."""
    policy = processes.directory / "hicache.yaml"
    policy.write_text("prefetch_threshold: 0\n")
    made = [Agent(processes, name, PAGE_BYTES, PAGE, store="hicache", more=("--prefetch-wait-ms", "20000")).start() for name in ("h1", "h2")]
    made = [agent.await_on_the_log() for agent in made]
    processes.run("policy", "apply", str(policy), "--bootstrap-servers", processes.brokers, "--timeout", "100")
    yield made
    for agent in made:
        agent.kill()


@pytest.fixture
def storages():
    made = []

    def make(address, pool=None, ready=True, **options):
        storage = TierlogStorage(config(address, instance=f"t-{os.getpid()}-{len(made)}-{time.monotonic_ns()}", **options), {})
        made.append(storage)
        if pool is not None:
            storage.register_mem_pool_host(pool)
        if ready:
            assert storage._client().await_ready(60), "the session did not begin"
        return storage

    yield make
    for storage in made:
        storage.close()


def write(storage, pool, keys) -> list[bool]:
    for page, key in enumerate(keys):
        pool.fill(page, key)
    return storage.batch_set_v1(keys, indices(range(len(keys))))


def test_pages_come_back_by_their_place_in_the_host_pool(nodes, storages):
    pool = HostPool(80)
    storage = storages(nodes[0].address, pool, namespace="v1", staging_pages=16)  # a batch takes several turns
    keys = chain("v1", 40)
    assert storage.batch_exists(keys) == 0
    assert write(storage, pool, keys) == [True] * 40
    assert storage.batch_exists(keys + ["none"]) == 40
    assert storage.exists(keys[7]) and not storage.exists("none")
    assert storage.batch_get_v1(keys, indices(range(40, 80))) == [True] * 40
    assert all(pool.holds(40 + i, key) for i, key in enumerate(keys))
    assert storage.batch_set_v1(keys[:5], indices(range(5))) == [True] * 5  # there already
    # A page that is not there ends what is read, and its place is not touched.
    pool.buffer.zero_()
    assert storage.batch_get_v1([keys[0], "none", keys[1]], indices([3, 4, 5])) == [True, False, False]
    assert pool.holds(3, keys[0]) and not pool.buffer[:, :, 4 * PAGE:, :].any()


def test_pages_come_back_as_tensors(nodes, storages):
    storage = storages(nodes[0].address, namespace="v0", block_tokens=PAGE)
    keys = chain("v0", 6)
    assert storage.batch_set(keys[:5], [content(key) for key in keys[:5]]) is True
    assert storage.set(keys[5], content(keys[5])) is True
    targets = [torch.zeros(PAGE_BYTES // 2, dtype=torch.float16) for _ in keys]
    got = storage.batch_get(keys, targets)
    assert all(torch.equal(one, content(key)) and one is target for one, key, target in zip(got, keys, targets))
    spread = torch.zeros(PAGE_BYTES // 2, 2, dtype=torch.float16)[:, 0]  # does not lie in a row
    assert torch.equal(storage.get(keys[2], spread), content(keys[2])) and torch.equal(spread, content(keys[2]))
    assert storage.get("none", targets[0]) is None
    assert storage.get(keys[0]) is None  # without a place there is nothing to read into
    assert storage.batch_set(keys, None) is False
    assert storage.set(keys[0], torch.zeros(PAGE_BYTES, dtype=torch.float16)) is False  # larger than a block of the agent


def test_another_node_reads_from_the_store(nodes, storages):
    pool, other = HostPool(24), HostPool(24)
    first = storages(nodes[0].address, pool, namespace="store")
    keys = chain("store", 24)
    assert all(write(first, pool, keys))
    second = storages(nodes[1].address, other, namespace="store")
    until = time.monotonic() + 60
    while second.batch_exists(keys) < 24:  # the backup follows the write-back
        assert time.monotonic() < until, f"{second.batch_exists(keys)} of 24 pages are in the store"
        time.sleep(0.1)
    assert second.batch_get_v1(keys, indices(range(24))) == [True] * 24
    assert all(other.holds(i, key) for i, key in enumerate(keys))
    second.close()  # an agent serves one engine at a time
    assert storages(nodes[1].address, other, namespace="another").batch_exists(keys) == 0


def test_several_pools_and_their_hits(nodes, storages):
    """A page needs its index too, which is smaller; of a state only the last one counts."""
    pool, index, state = HostPool(16), HostPool(16), HostPool(16)
    storage = storages(nodes[0].address, pool, namespace="v2")
    for name, one in (("kv", pool), ("indexer", index), ("mamba", state)):
        storage.register_mem_host_pool_v2(one, name)
    keys = chain("v2", 8)

    def transfer(name, names, pages=None, policy="all_pages"):
        return SimpleNamespace(name=name, keys=names, host_indices=indices(pages) if pages is not None else None, hit_policy=policy)

    for page, key in enumerate(keys):
        pool.fill(page, key)
        index.fill(page, "i" + key)
        state.fill(page, "s" + key)
    done = storage.batch_set_v2([transfer("kv", keys, range(8)), transfer("indexer", keys[:6], range(6)), transfer("mamba", [keys[3]], [3])])
    assert done == {"kv": [True] * 8, "indexer": [True] * 6, "mamba": [True]}
    hits = storage.batch_exists_v2(keys, [transfer("indexer", keys)])
    assert (hits.kv_hit_pages, hits.extra_pool_hit_pages) == (6, {"indexer": 6})
    hits = storage.batch_exists_v2(keys, [transfer("indexer", keys), transfer("mamba", keys[-1:], policy="trailing_pages")])
    assert (hits.kv_hit_pages, hits.extra_pool_hit_pages) == (4, {"indexer": 4, "mamba": 4})
    assert storage.batch_exists_v2(keys).kv_hit_pages == 8
    got = storage.batch_get_v2([transfer("kv", keys[:4], range(8, 12)), transfer("indexer", keys[:4], range(8, 12)),
                                transfer("none", keys, range(8))])
    assert got == {"kv": [True] * 4, "indexer": [True] * 4, "none": [False] * 8}
    assert all(pool.holds(8 + i, keys[i]) and index.holds(8 + i, "i" + keys[i]) for i in range(4))


def test_callers_at_the_same_time_and_more_pages_than_the_host_has(nodes, storages):
    """HiCache reads and saves on threads of its own. The host has 256 pages: older ones leave, and what comes back is right all the same."""
    storage = storages(nodes[0].address, namespace="many", block_tokens=PAGE, staging_pages=32)
    wrong: list[str] = []

    def work(number: int) -> None:
        draw = random.Random(number)
        prompts = [chain(f"{number}/{i}", 16) for i in range(6)]
        try:
            for _ in range(10):
                keys = draw.choice(prompts)
                there = storage.batch_exists(keys)
                targets = [torch.zeros(PAGE_BYTES // 2, dtype=torch.float16) for _ in keys[:there]]
                for key, got in zip(keys, storage.batch_get(keys[:there], targets)):
                    if got is not None and not torch.equal(got, content(key)):
                        wrong.append(key)
                storage.batch_set(keys, [content(key) for key in keys])
        except Exception as e:  # pylint: disable=broad-except
            wrong.append(repr(e))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive()
    assert not wrong
    assert storage.counts["pages_read"] > 100, storage.counts
    assert storage.counts.get("pages_left", 0) == 0, storage.counts


def test_clear_forgets_what_was_saved(nodes, storages):
    pool = HostPool(8)
    storage = storages(nodes[0].address, pool, namespace="clear")
    keys = chain("clear", 4)
    assert all(write(storage, pool, keys))
    storage.clear()
    assert storage.batch_exists(keys) == 0
    assert all(write(storage, pool, keys)) and storage.batch_exists(keys) == 4


def test_an_agent_that_is_killed_costs_misses_and_is_used_again(nodes, storages):
    agent = nodes[1]
    pool = HostPool(64)
    storage = storages(agent.address, pool, namespace="gone")
    keys = chain("gone", 32)
    assert all(write(storage, pool, keys))
    results: list[object] = []
    going = threading.Event()

    def ask() -> None:
        try:
            while not going.is_set():
                results.append(storage.batch_get_v1(keys, indices(range(32, 64))))
                results.append(storage.batch_set_v1(chain(f"{len(results)}", 8), indices(range(8))))
        except Exception as e:  # pylint: disable=broad-except
            results.append(e)

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.3)
    agent.kill()  # in the middle of it
    time.sleep(0.5)
    going.set()
    asking.join(60)
    assert not asking.is_alive()
    assert all(isinstance(one, list) for one in results), [one for one in results if not isinstance(one, list)]
    began = time.monotonic()
    assert storage.batch_exists(keys) == 0
    assert storage.batch_get_v1(keys, indices(range(32, 64))) == [False] * 32
    assert storage.batch_set_v1(keys, indices(range(32))) == [False] * 32
    assert time.monotonic() - began < 2
    agent.start().await_on_the_log()
    until = time.monotonic() + 60
    while not all(write(storage, pool, keys[:4])):
        assert time.monotonic() < until, "the agent is not used again"
        time.sleep(0.2)
    pool.buffer.zero_()
    assert storage.batch_get_v1(keys[:4], indices(range(4))) == [True] * 4
    assert all(pool.holds(i, key) for i, key in enumerate(keys[:4]))


def staging_files() -> int:
    """Open memory files of this process."""
    links = []
    for number in os.listdir("/proc/self/fd"):
        try:
            links.append(os.readlink(f"/proc/self/fd/{number}"))
        except FileNotFoundError:  # that of the listing itself
            pass
    return sum(link.startswith("/memfd:tierlog-pages") for link in links)


def test_an_agent_that_was_never_there_costs_misses(storages, tmp_path):
    storage = storages(f"unix:{tmp_path / 'none'}", HostPool(4), ready=False)
    assert storage.batch_exists(["a"]) == 0
    assert storage.batch_get_v1(["a"], indices([0])) == [False]
    assert storage.batch_set(["a"], [content("a")]) is False
    assert storage.get("a", content("a")) is None
    open_files = staging_files()
    time.sleep(4)  # both streams try again each second
    assert staging_files() == open_files
