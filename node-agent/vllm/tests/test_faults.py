# SPDX-License-Identifier: Apache-2.0
"""What the connector does with an agent that is slow, refuses, breaks off, or comes back: nothing is wrong, held or waited for too long."""
from __future__ import annotations

import logging
import pickle
import threading
import time
from types import SimpleNamespace

import grpc
import pytest
import torch

from fake_agent import FakeAgent
from standin import TOKENS, Engine, Request, Status, config, kv_config, tensors
from test_connector import prompt, run
from tierlog import doctor
from tierlog.messages import messages
from tierlog_vllm import settings
from tierlog_vllm.compat import KVConnectorRole
from tierlog_vllm.connector import TierlogConnector
from tierlog_vllm.layout import LayoutError, pool, table
from tierlog_vllm.settings import SettingsError


@pytest.fixture
def fake(tmp_path):
    agent = FakeAgent(str(tmp_path / "agent.sock")).start()
    yield agent
    agent.stop()


def right_bytes(fake, engine, request_of):
    """A Load that copies what the model would have computed."""
    def load(request, context):
        prompt_of = request_of(request)
        for block in request.blocks:
            for worker in engine.workers:
                for at in range(TOKENS):
                    for layer in range(worker.layers):
                        slot = worker._slot(layer, block.page, at)
                        slot.copy_(worker._bytes(prompt_of, block.index * TOKENS + at, layer).reshape(slot.shape))
        return messages.LoadReply(loaded=len(request.blocks))
    return load


def named(engine, request):
    return next(r for r in [*engine.requests.values(), *engine.done.values()] if repr(r.request_id) in request.request)


def test_a_load_that_fails_in_part_is_computed_from_there(fake, engines):
    engine = engines(fake.address)
    fake.offer = 4
    whole = right_bytes(fake, engine, lambda request: named(engine, request))

    def load(request, context):
        whole(request, context)
        for block in request.blocks[2:]:
            fake.write(block.page, b"\xff" * 16)
        return messages.LoadReply(loaded=2, reason="checksum")

    fake.behave["Load"] = load
    engine.add(Request("r", prompt(1, 22), 2))
    run(engine)
    assert engine.failed_blocks == 2
    assert sorted(block.index for request in fake.requests("Sealed") for block in request.blocks) == [2, 3, 4, 5]


@pytest.mark.parametrize("asynchronous", [True, False])
def test_a_load_that_is_refused_is_computed_and_not_tried_again(fake, engines, asynchronous):
    engine = engines(fake.address, async_load=asynchronous)
    fake.offer = 4
    fake.behave["Load"] = lambda request, context: context.abort(grpc.StatusCode.NOT_FOUND, "no such lease")
    engine.add(Request("r", prompt(2, 22), 2))
    run(engine)
    assert engine.failed_blocks == 4
    assert fake.count("Load") == 1


def test_what_a_step_computed_on_wrong_blocks_is_not_saved(fake, engines):
    engine = engines(fake.address, async_load=False)
    fake.offer = 4
    saved = []

    def seal(request, context):
        for block in request.blocks:
            for at in range(TOKENS):
                slot = engine.workers[0]._slot(0, block.page, at)
                right = engine.workers[0]._bytes(named(engine, request), block.index * TOKENS + at, 0)
                saved.append((block.index, torch.equal(slot.reshape(-1), right)))
        fake._sealed(request, context)

    fake.behave["Load"] = lambda request, context: messages.LoadReply(loaded=0, reason="checksum")
    fake.behave["Sealed"] = seal
    engine.add(Request("r", prompt(13, 26), 2))
    run(engine)
    assert saved and all(right for _, right in saved), saved
    assert {index for index, _ in saved} == set(range(7))


def test_a_load_without_an_answer_keeps_its_pages_until_they_are_released(fake, engines):
    engine = engines(fake.address, load_ms=100)
    fake.offer = 4
    over = threading.Event()
    fake.behave["Load"] = lambda request, context: over.wait(5)
    engine.add(Request("r", prompt(3, 22), 2))
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        engine.step()
    assert engine.requests["r"].status is Status.WAITING_FOR_REMOTE_KVS, "the copy may still write"
    load = fake.requests("Load")[0]
    fake.notify(released=messages.Released(request=load.request, attempt=1, pages=[block.page for block in load.blocks]))
    run(engine)
    over.set()
    assert engine.failed_blocks == 4


def test_a_request_that_is_aborted_while_it_loads_is_named_once(fake, engines):
    engine = engines(fake.address)
    fake.offer = 4
    go_on = threading.Event()
    fake.behave["Load"] = lambda request, context: go_on.wait(5) and None
    engine.add(Request("r", prompt(4, 22), 2))
    while not fake.count("Load"):
        engine.step()
    engine.abort("r")
    for _ in range(20):
        engine.step()
    assert sum(engine.pool.references) > 0, "the load still writes"
    go_on.set()
    run(engine)
    until = time.monotonic() + 5
    while not fake.count("Cancel"):
        assert time.monotonic() < until, "the attempt ends for the agent too"
        time.sleep(0.01)


def test_an_agent_that_dies_in_a_load(fake, engines):
    engine = engines(fake.address)
    fake.offer = 4
    fake.behave["Load"] = lambda request, context: time.sleep(1)
    engine.add(Request("r", prompt(5, 22), 2))
    while not fake.count("Load"):
        engine.step()
    fake.stop()
    run(engine)
    assert engine.failed_blocks == 4
    fake.behave.clear()
    fake.start()
    until = time.monotonic() + 10
    while not engine.connector._scheduler._registered:
        assert time.monotonic() < until
        time.sleep(0.01)
    engine.add(Request("r2", prompt(6, 22), 2))
    fake.offer = 0
    run(engine)
    assert fake.requests("Submit")[-1].session == "s2"


def test_a_slow_agent_costs_its_bound_and_then_nothing(fake, engines):
    engine = engines(fake.address, bound_ms=50)
    fake.behave["Submit"] = lambda request, context: time.sleep(0.3)
    took = []
    for i in range(10):
        engine.add(Request(f"r{i}", prompt(i, 22), 1))
        began = time.monotonic()
        while engine.requests[f"r{i}"].status is Status.WAITING:
            engine.step()
        took.append(time.monotonic() - began)
    run(engine)
    assert max(took) < 0.2, took
    assert sum(took) < 0.5, took


def test_waiting_for_a_fetch_ends_with_ready_or_its_bound(fake, engines):
    engine = engines(fake.address, lookup_ms=300)
    fake.behave["Submit"] = lambda request, context: messages.SubmitReply(waiting=messages.Waiting())
    engine.add(Request("late", prompt(7, 22), 1))
    began = time.monotonic()
    run(engine)
    assert 0.25 < time.monotonic() - began < 3
    submit = fake.requests("Submit")[0]
    offer = messages.Offer(first_index=0, sources=[1] * 4, lease="too-late")
    fake.notify(ready=messages.Ready(request=submit.request, attempt=1, offer=offer))
    until = time.monotonic() + 5
    while not any(request.lease == "too-late" for request in fake.requests("Release")):
        assert time.monotonic() < until, "the pins of an offer that comes too late are released"
        time.sleep(0.01)
    fake.behave["Load"] = right_bytes(fake, engine, lambda request: named(engine, request))
    engine.add(Request("in-time", prompt(8, 22), 1))
    while fake.count("Submit") < 2:
        engine.step()
    fake.notify(ready=messages.Ready(request=fake.requests("Submit")[1].request, attempt=1, offer=messages.Offer(
        first_index=0, sources=[1] * 4, lease="in-time")))
    run(engine)
    assert engine.hits["in-time"] == 16


def test_a_ready_that_overtakes_the_answer_is_taken(fake, engines):
    engine = engines(fake.address)
    fake.behave["Load"] = right_bytes(fake, engine, lambda request: named(engine, request))

    def submit(request, context):
        fake.notify(ready=messages.Ready(request=request.request, attempt=request.attempt, offer=messages.Offer(
            first_index=0, sources=[1] * 4, lease="early")))
        time.sleep(0.1)
        return messages.SubmitReply(waiting=messages.Waiting())

    fake.behave["Submit"] = submit
    engine.add(Request("r", prompt(9, 22), 1))
    run(engine)
    assert engine.hits["r"] == 16


def test_pages_of_a_finished_request_are_held_until_released(fake, engines):
    engine = engines(fake.address)
    fake.behave["Finish"] = lambda request, context: None
    engine.add(Request("r", prompt(10, 22), 1))
    while not fake.count("Finish"):
        engine.step()
    for _ in range(20):
        engine.step()
    assert sum(engine.pool.references) > 0 and engine.connector.has_pending_push_work()
    finish = fake.requests("Finish")[0]
    pages = list(fake.sealed[(finish.request, 1)])
    fake.notify(released=messages.Released(request=finish.request, attempt=1, pages=pages[:1]))
    for _ in range(20):
        engine.step()
    assert sum(engine.pool.references) > 0, "not all of them"
    fake.notify(released=messages.Released(request=finish.request, attempt=1, pages=pages))
    run(engine)


def test_a_preemption_waits_for_saves_and_then_abandons_them(fake, engines):
    engine = engines(fake.address, blocks=16, preemption_ms=150)
    fake.behave["Finish"] = lambda request, context: None  # a write-back that does not end
    for i in range(3):
        engine.add(Request(f"r{i}", prompt(f"p{i}", 14), 12))
    while not engine.preemptions:
        engine.step()
    preempted = [request for request in fake.requests("Finish") if request.outcome == 2]
    assert preempted and any(cancel.request == preempted[0].request for cancel in fake.requests("Cancel"))
    fake.behave.clear()
    for key in list(fake.sealed):
        fake.release(*key)
    run(engine)


def test_an_offer_is_released_when_nothing_is_loaded(fake, engines):
    engine = engines(fake.address)
    fake.offer = 4
    connector = engine.connector
    request = Request("r", prompt(11, 22), 1)
    while connector.get_num_new_matched_tokens(request, 0)[0] is None:
        pass
    connector.update_state_after_alloc(request, SimpleNamespace(get_block_ids=lambda: ([1, 2, 3, 4, 5, 6],)), 0)
    until = time.monotonic() + 5
    while not fake.count("Release"):
        assert time.monotonic() < until
        time.sleep(0.01)
    request.status = Status.FINISHED_ABORTED
    connector.request_finished(request, [])


def test_pages_with_other_content_are_reported_as_evicted(fake, engines):
    engine = engines(fake.address, blocks=10)
    for i in range(4):
        engine.add(Request(f"r{i}", prompt(f"e{i}", 18), 1))
        run(engine)
    evicted = [block for request in fake.requests("Evicted") for block in request.blocks]
    assert evicted and all(block.generation > 0 for block in evicted)


# --- without any agent

def test_more_than_one_group_is_refused():
    with pytest.raises(SettingsError, match="one KV cache group"):
        TierlogConnector(config("unix:/nowhere"), KVConnectorRole.SCHEDULER, kv_config(8, groups=2))


def test_keys_that_do_not_hold_elsewhere_are_of_this_life_alone(monkeypatch, caplog):
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


def test_what_vllm_asks_of_the_class():
    connector = TierlogConnector(config("unix:/nowhere"), KVConnectorRole.WORKER, kv_config(8))
    assert connector.prefer_cross_layer_blocks is True
    assert connector.requires_kv_delivery is False
    assert TierlogConnector.requires_piecewise_for_cudagraph({}) is False
    assert TierlogConnector.get_required_kvcache_layout(None) is None
    assert connector.get_finished(set()) == (None, None)
    assert connector.get_block_ids_with_load_errors() == set()
    assert list(connector.take_events()) == []
    connector.shutdown()


def test_metadata_is_plain_data(fake, engines):
    engine = engines(fake.address)
    seen = []
    engine.on_step = lambda out: seen.append(pickle.loads(out.meta))
    engine.add(Request("r", prompt(12, 22), 1))
    run(engine)
    assert any(meta.seals for meta in seen)


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


def test_the_doctor_says_what_is_wrong(fake, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(doctor, "_PATIENCE_S", 1)
    assert doctor.main(["--agent", f"unix:{tmp_path}/none"]) == 1
    assert "--engine-socket" in capsys.readouterr().out
    fake.behave["Health"] = lambda request, context: messages.HealthReply(on_the_log=True, incarnation=3, host_free_blocks=7)
    assert doctor.main(["--agent", fake.address]) == 0
    assert "incarnation 3" in capsys.readouterr().out
    fake.behave["Health"] = lambda request, context: messages.HealthReply(on_the_log=False)
    assert [f for f in doctor.agent(fake.address, lambda s: None) if f[0] == "wrong"][0][1] == "log"


def test_an_engine_without_an_agent_is_plain(tmp_path, engines):
    engine: Engine = engines(f"unix:{tmp_path}/none", ready=False)
    for i in range(5):
        engine.add(Request(f"r{i}", prompt(i, 22), 4))
    run(engine)
