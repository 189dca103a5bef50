# SPDX-License-Identifier: Apache-2.0
"""What the connector does with an agent that is slow, refuses, breaks off, or comes back: nothing is wrong, held or waited for too long."""
from __future__ import annotations

import pickle
import threading
import time
from types import SimpleNamespace

import grpc
import pytest
import torch

from fake_agent import FakeAgent
from standin import TOKENS, Engine, Request, Status, config, kv_config
from test_connector import prompt, run
from tierlog import doctor
from tierlog.messages import messages
from tierlog_vllm import scheduler, worker
from tierlog_vllm.compat import KVConnectorRole
from tierlog_vllm.connector import TierlogConnector
from tierlog_vllm.metadata import TierlogMetadata


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


def test_the_trace_of_a_request_goes_with_its_submit(fake, engines):
    engine = engines(fake.address)
    seen = {}

    def submit(request, context):
        seen[request.request] = {key: value for key, value in context.invocation_metadata() if key.startswith("trace")}
        return fake._submit(request, context)

    fake.behave["Submit"] = submit
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    engine.add(Request("traced", prompt(20, 22), 1, trace_headers={"Traceparent": parent, "tracestate": "vendor=7", "authorization": "secret"}))
    engine.add(Request("odd", prompt(21, 22), 1, trace_headers={"traceparent": "caf\u00e9\n"}))
    engine.add(Request("plain", prompt(22, 22), 1))
    run(engine)
    assert {name.split("'")[1]: headers for name, headers in seen.items()} == {
        "traced": {"traceparent": parent, "tracestate": "vendor=7"}, "odd": {}, "plain": {}}


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


def test_errors_that_come_a_step_before_the_end_of_their_load(fake, engines, monkeypatch):
    late = [set()]
    finished = worker.WorkerSide.finished

    def a_step_later(side):
        sent, received = finished(side)
        late.append(received)
        return sent, late[-2]

    monkeypatch.setattr(worker.WorkerSide, "finished", a_step_later)
    engine = engines(fake.address)
    fake.offer = 4
    fake.behave["Load"] = lambda request, context: context.abort(grpc.StatusCode.NOT_FOUND, "no such lease")
    engine.add(Request("r", prompt(2, 22), 2))
    run(engine)
    assert engine.failed_blocks == 4
    assert [request.loaded_blocks for request in fake.requests("Prefilled")] == [0]


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


def test_what_prefill_costs_goes_with_every_submit(fake, engines):
    engine = engines(fake.address, prefill_ns_per_token=20_000)
    engine.add(Request("r1", prompt(6, 22), 2))
    run(engine)
    assert [submit.prefill_ns_per_token for submit in fake.requests("Submit")] == [20_000]


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


def test_only_blocks_that_may_be_published_are_saved(fake, engines):
    engine = engines(fake.address)
    request = Request("limited", prompt(31, 22), 1)
    request.num_publishable_block_hashes = 3
    engine.add(request)
    engine.add(Request("free", prompt(32, 22), 1))
    run(engine)
    saved = {name: sum(len(one.blocks) for one in fake.requests("Sealed") if repr(name) in one.request) for name in ("limited", "free")}
    assert saved == {"limited": 3, "free": 22 // TOKENS}


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


@pytest.mark.parametrize("says", [True, False])
def test_a_prompt_longer_than_the_agent_takes_uses_its_first_blocks(fake, engines, monkeypatch, says):
    """3 blocks of the 5 are taken, by an agent that says so and by an older one, which would refuse a longer prompt."""
    monkeypatch.setattr(scheduler, "OLD_AGENT_BLOCKS", 3)
    if says:
        fake.prompt_blocks, fake.call_blocks = 3, 2
    engine = engines(fake.address)
    fake.offer = 9
    fake.behave["Load"] = right_bytes(fake, engine, lambda request: named(engine, request))
    engine.add(Request("r", prompt(3, 22), 2))
    run(engine)
    submit = fake.requests("Submit")[0]
    assert (len(submit.keys), submit.prompt_tokens) == (3, 22 if says else 4 * TOKENS - 1)
    assert [block.index for request in fake.requests("Load") for block in request.blocks] == [0, 1, 2]
    assert engine.failed_blocks == 0
    engine.add(Request("s", prompt(3, 22), 1))  # vLLM's own cache has all 5
    run(engine)
    assert fake.requests("Submit")[-1].device_blocks == 3
    assert fake.count("Load") == 1
    assert all(block.index < 3 for request in fake.requests("Sealed") for block in request.blocks)
    assert engine.connector.get_kv_connector_stats().data["blocks_beyond"] == 4


def test_a_call_that_can_be_made_in_parts_names_no_more_than_the_agent_takes(fake, engines):
    fake.prompt_blocks, fake.call_blocks = 8, 2
    engine = engines(fake.address, blocks=10)
    for i in range(4):
        engine.add(Request(f"r{i}", prompt(f"e{i}", 26), 1))
        run(engine)
    assert max(len(request.blocks) for request in fake.requests("Evicted")) == 2


def test_the_release_of_a_load_is_no_release_of_a_save_into_the_same_pages(fake, engines):
    engine = engines(fake.address, load_ms=100)
    tokens = prompt(14, 18)
    engine.add(Request("first", tokens[:8] + [1, 2], 1))
    run(engine)
    fake.offer = 4
    over = threading.Event()
    fake.behave["Load"] = lambda request, context: over.wait(5) and None
    fake.behave["Finish"] = lambda request, context: None  # the agent still copies
    engine.add(Request("r", tokens, 1))
    until = time.monotonic() + 0.4
    while time.monotonic() < until:
        engine.step()
    load = fake.requests("Load")[0]
    pages = [block.page for block in load.blocks]
    fake.notify(released=messages.Released(request=load.request, attempt=1, pages=pages))
    while fake.count("Finish") < 2:
        engine.step()
    over.set()
    assert sorted(fake.sealed[load.request, 1]) == sorted(pages), "computed into the pages of the load"
    for _ in range(20):
        engine.step()
        time.sleep(0.01)
    assert sum(engine.pool.references) > 0, "the agent still copies"
    fake.release(load.request, 1)
    run(engine)


def test_a_step_goes_on_without_loads_that_do_not_end(fake, engines, monkeypatch):
    monkeypatch.setattr(worker, "_LAST_RESORT_S", 0.3)
    engine = engines(fake.address, async_load=False, load_ms=100)
    fake.offer = 4
    over = threading.Event()
    fake.behave["Load"] = lambda request, context: over.wait(5) and None
    engine.add(Request("r", prompt(15, 22), 2))
    run(engine)
    over.set()
    assert engine.failed_blocks == 4
    assert fake.count("Join") > 1, "the session is made again"


def test_a_load_that_the_step_has_gone_on_without_does_not_begin(fake, engines, monkeypatch):
    monkeypatch.setattr(worker, "_LAST_RESORT_S", 0.3)
    engine = engines(fake.address, async_load=False, load_ms=100)
    fake.offer = 4
    side, over = engine.workers[0].connector._worker, threading.Event()
    side._jobs.put(lambda: over.wait(5))  # calls behind another that hangs
    engine.add(Request("r", prompt(16, 22), 2))
    while not engine.failed_blocks:
        engine.step()
    over.set()
    run(engine)
    assert engine.failed_blocks == 4 and fake.count("Load") == 0


def test_ranks_stay_in_step_after_a_save_call_without_an_answer(fake, engines, monkeypatch):
    monkeypatch.setattr(worker, "_CALL_S", 0.3)
    engine = engines(fake.address, ranks=2)
    over = threading.Event()
    fake.behave["Sealed"] = lambda request, context: (over.wait(5) and None) if request.rank else fake._sealed(request, context)
    engine.add(Request("r", prompt(17, 22), 2))
    run(engine)
    over.set()
    del fake.behave["Sealed"]
    assert fake.count("Join") > 2, "the session is made again"
    until = time.monotonic() + 5
    sides = [one.connector._worker for one in engine.workers]
    for side in sides:  # a later save of the same request may not be answered either, and is over before the next request
        idle = threading.Event()
        side._jobs.put(idle.set)
        assert idle.wait(5)
    while not all(side._session and not side._stream._call.done() for side in sides):
        assert time.monotonic() < until
        time.sleep(0.01)
    fake.calls.clear()
    engine.add(Request("r2", prompt(18, 22), 2))
    run(engine)
    by_rank = [[block.index for request in fake.requests("Sealed") if request.rank == rank for block in request.blocks] for rank in (0, 1)]
    assert by_rank[0] and by_rank[0] == by_rank[1], by_rank


def asked(engine, request, until=lambda answer: answer is not None):
    """The answer about a request, in steps that schedule nothing."""
    end = time.monotonic() + 5
    while True:
        answer = engine.connector.get_num_new_matched_tokens(request, 0)[0]
        engine.connector._scheduler._step_until = None
        if until(answer):
            return answer
        assert time.monotonic() < end
        time.sleep(0.001)


def cancelled(fake, want):
    until = time.monotonic() + 5
    while not want <= {cancel.attempt for cancel in fake.requests("Cancel")}:
        assert time.monotonic() < until, f"{fake.requests('Cancel')} are cancelled, {want} are wanted"
        time.sleep(0.01)


@pytest.mark.parametrize("trouble", ["slow", "busy", "late"])
def test_an_offer_is_given_back_when_the_next_attempt_is_not_made(fake, engines, trouble):
    engine = engines(fake.address, offer_ms=100, **({"bound_ms": 50} if trouble == "late" else {}))
    fake.offer = 4
    request = Request("r", prompt(19, 22), 1)
    assert asked(engine, request) == 16
    time.sleep(0.15)
    if trouble == "slow":
        engine.connector._scheduler._slow_until = time.monotonic() + 5
    elif trouble == "busy":
        fake.behave["Submit"] = lambda request, context: context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "busy")
    else:
        fake.behave["Submit"] = lambda request, context: time.sleep(0.3)
        engine.connector.get_num_new_matched_tokens(request, 0)
        time.sleep(0.2)  # its deadline is over at the next question
    assert asked(engine, request) == 0
    cancelled(fake, {1} if trouble == "slow" else {1, 2})
    engine.connector.request_finished(request, [])


def test_all_questions_of_a_step_wait_once(fake, engines, monkeypatch):
    monkeypatch.setattr(scheduler, "_ANSWER_S", 0.1)
    engine = engines(fake.address)
    over = threading.Event()
    fake.behave["Submit"] = lambda request, context: over.wait(10) and None
    for i in range(30):
        engine.add(Request(f"r{i}", prompt(f"s{i}", 22), 1))
    for _ in range(2):
        began = time.monotonic()
        engine.step()
        assert 0.1 <= time.monotonic() - began < 1.5, "30 questions of 0.1 s each would take 3 s"
    over.set()
    del fake.behave["Submit"]
    run(engine)


def test_a_join_that_is_refused_is_hurried_once_for_a_session(fake, engines):
    side, hurried = engines(fake.address).workers[0].connector._worker, []
    side._stream.hurry = lambda: hurried.append(1)
    for session in ("other", "other", "other", "next", "next"):
        side.start(TierlogMetadata(session=session))
    assert len(hurried) == 2


def test_a_later_session_is_not_waited_for_as_the_first(fake, engines):
    engine = engines(fake.address, bound_ms=50)
    fake.behave["Join"] = lambda request, context: context.abort(grpc.StatusCode.FAILED_PRECONDITION, "another size of a block")
    fake.stop()
    fake.start()
    until = time.monotonic() + 10
    while engine.connector._scheduler._session != "s2":
        assert time.monotonic() < until
        time.sleep(0.01)
    began = time.monotonic()
    engine.add(Request("r", prompt(20, 22), 1))
    while engine.requests["r"].status is Status.WAITING:
        engine.step()
    assert time.monotonic() - began < 1
    run(engine)


# --- without any agent

def test_a_step_with_tokens_is_finished_when_draft_layers_have_written():
    connector, finished = TierlogConnector(config("unix:/nowhere"), KVConnectorRole.WORKER, kv_config(8)), []
    connector._worker = SimpleNamespace(preempt=lambda orders: None, start=lambda orders: None, finish_step=finished.append,
                                        finished=lambda: (set(), set()))
    for tokens in (True, False):
        orders = TierlogMetadata(tokens=tokens)
        connector.bind_connector_metadata(orders)
        connector.start_load_kv(None)
        connector.get_finished(set())  # vLLM calls it before the draft layers, and wait_for_save after them
        assert (orders in finished) is not tokens
        finished.clear()
        if tokens:
            connector.wait_for_save()
            assert finished == [orders]
            finished.clear()


def test_counts_of_the_scheduler_leave_when_the_agent_is_away(tmp_path, engines):
    engine = engines(f"unix:{tmp_path}/none", ready=False)
    engine.add(Request("r", prompt(1, 22), 1))
    run(engine)
    of_worker = engine.workers[0].connector.get_kv_connector_stats()
    assert of_worker is not None, "vLLM takes those of the scheduler only with those of a worker"
    assert of_worker.is_empty()
    assert of_worker.aggregate(engine.connector.get_kv_connector_stats()).data["requests_without_agent"] == 1


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
