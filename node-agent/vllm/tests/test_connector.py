# SPDX-License-Identifier: Apache-2.0
"""The connector in vLLM's calling order against a real agent, with every byte compared."""
from __future__ import annotations

import random
import threading
import time

import pytest

from processes import Agent
from standin import TOKENS, Engine, Request, Status, block_bytes

KINDS = ["split", "joined", "nhd", "hnd", "mla", "one-buffer", "cross"]


def prompt(seed, tokens):
    return [random.Random(f"{seed}/{i}").randrange(1000) for i in range(tokens)]


def run(engine: Engine, patience: float = 30.0) -> None:
    """Steps until no request is left, with no block held."""
    until = time.monotonic() + patience
    while engine.unfinished():
        assert time.monotonic() < until, f"hangs: {[(r.request_id, r.status) for r in engine.requests.values()]}"
        engine.step()
        time.sleep(0.001)
    assert sum(engine.pool.references) == 0, "a block is held"
    assert not engine.connector.has_pending_push_work()


def serve(engine, name, tokens, new=3, **options):
    engine.add(Request(name, tokens, new, **options))
    run(engine)
    return engine.hits.get(name, 0)


def await_saved(engine, tokens, want):
    """The same prompt finds as many tokens on the host, at the latest after some seconds."""
    until, number = time.monotonic() + 60, 0
    while True:
        number += 1
        engine.pool.evict_cached()
        hits = serve(engine, f"again-{number}-{time.monotonic_ns()}", tokens, 1)
        if hits >= want:
            return hits
        assert time.monotonic() < until, f"{hits} of {want} tokens were found"
        time.sleep(0.05)


def test_of_a_prompt_longer_than_the_agent_takes_the_first_blocks_come_back(processes, engines):
    cut = Agent(processes, "cut", block_bytes(2), TOKENS, more=("--prompt-blocks", "3")).start().await_on_the_log()
    engine = engines(cut.address)
    assert serve(engine, "r1", prompt("cut", 22)) == 0
    assert await_saved(engine, prompt("cut", 22), 3 * TOKENS) == 3 * TOKENS
    assert engine.failed_blocks == 0
    cut.kill()


@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_comes_back_in_every_layout(agent, engines, kind):
    first = engines(agent.address, kind=kind)
    assert serve(first, "r1", prompt(kind, 22)) == 0
    assert await_saved(first, prompt(kind, 22), 20) == 20
    first.close()
    second = engines(agent.address, kind=kind)  # another process of the engine, in the same namespace
    assert serve(second, "r2", prompt(kind, 22)) == 20
    assert second.failed_blocks == 0


def test_a_synchronous_load_is_there_when_the_step_begins(agent, engines):
    engine = engines(agent.address, async_load=False)
    serve(engine, "r1", prompt("sync", 30))
    assert await_saved(engine, prompt("sync", 30), 28) == 28


def test_the_last_token_is_always_computed(agent, engines):
    engine = engines(agent.address)
    serve(engine, "r1", prompt("full", 16), 9)
    assert await_saved(engine, prompt("full", 16), 12) == 12, "of a prompt of 4 whole blocks 3 help"


def test_a_prompt_shorter_than_a_block_is_plain(agent, engines):
    engine = engines(agent.address)
    assert serve(engine, "r1", prompt("short", 3), 9) == 0
    assert serve(engine, "r2", prompt("short", 3), 9) == 0


def test_generated_blocks_are_found_too(agent, engines):
    engine = engines(agent.address)
    request = Request("r1", prompt("turn", 10), 12)
    engine.add(request)
    run(engine)
    follow_up = list(request.tokens)[:20] + [7]
    assert await_saved(engine, follow_up, 20) == 20


def test_prompt_logprobs_fetch_nothing_and_are_saved(agent, engines):
    engine = engines(agent.address)
    serve(engine, "r1", prompt("echo", 18))
    await_saved(engine, prompt("echo", 18), 16)
    engine.pool.evict_cached()
    assert serve(engine, "r2", prompt("echo", 18), prompt_logprobs=1) == 0
    assert serve(engine, "r3", prompt("echo2", 18), prompt_logprobs=1) == 0
    assert await_saved(engine, prompt("echo2", 18), 16) == 16


def test_two_ranks_have_their_own_bytes(processes, engines):
    agent = Agent(processes, "ranks", 2 * block_bytes(2), TOKENS, ranks=2).start().await_on_the_log()
    try:
        engine = engines(agent.address, ranks=2)
        serve(engine, "r1", prompt("ranks", 22))
        assert await_saved(engine, prompt("ranks", 22), 20) == 20
        assert engine.failed_blocks == 0
        fuzz(engine, random.Random(7), 30)
    finally:
        agent.kill()


def test_n_that_changes_between_two_questions(agent, engines):
    engine = engines(agent.address)
    tokens = prompt("n", 26)
    serve(engine, "r1", tokens)
    await_saved(engine, tokens, 24)
    connector, request = engine.connector, Request("r2", tokens, 1)

    def ask(held):
        until = time.monotonic() + 5
        while time.monotonic() < until:
            answer = connector.get_num_new_matched_tokens(request, held)
            if answer[0] is not None:
                return answer
        raise AssertionError("no answer")

    assert ask(8) == (16, True)
    assert ask(8) == (16, True), "a repeat changes nothing"
    assert ask(12) == (12, True), "the device has more now"
    assert ask(0) == (24, True), "and less"
    assert ask(24) == (0, False)
    request.status = Status.FINISHED_ABORTED
    assert connector.request_finished(request, []) == (False, None)


def test_an_offer_that_waits_too_long_is_made_again(agent, engines):
    engine = engines(agent.address, offer_ms=1)
    serve(engine, "r1", prompt("offer", 26))
    await_saved(engine, prompt("offer", 26), 24)
    request = Request("r2", prompt("offer", 26), 1)
    numbers = set()
    for _ in range(5):
        while engine.connector.get_num_new_matched_tokens(request, 0)[0] is None:
            pass
        numbers.add(engine.connector._scheduler._requests["r2"].number)
        time.sleep(0.003)
    assert len(numbers) > 1
    engine.connector.request_finished(request, [])


def test_preempted_requests_load_what_they_had_computed(agent, engines):
    engine = engines(agent.address, blocks=20, preemption_ms=2_000)
    for i in range(4):
        engine.add(Request(f"r{i}", prompt(f"pre{i}", 18), 16))
    run(engine, 60)
    assert engine.preemptions > 0
    assert engine.failed_blocks == 0


def fuzz(engine: Engine, random_: random.Random, steps: int, chaos=None) -> None:
    """Requests that share prefixes come, go on, are aborted at any moment and preempt each other."""
    stem = prompt(f"stem{random_.random()}", 40)
    for number in range(steps):
        if random_.random() < 0.5:
            tokens = stem[:random_.randrange(1, 40)] + [random_.randrange(1000) for _ in range(random_.randrange(0, 9))]
            engine.add(Request(f"f{number}-{random_.random()}", tokens, random_.randrange(1, 12),
                               prompt_logprobs=1 if random_.random() < 0.1 else None))
        if random_.random() < 0.2 and engine.requests:
            engine.abort(random_.choice(sorted(engine.requests)))
        if random_.random() < 0.1:
            engine.pool.evict_cached()
        if chaos and random_.random() < 0.04:
            chaos()
        engine.step()
        if random_.random() < 0.3:
            time.sleep(random_.random() * 0.01)
    run(engine, 60)


@pytest.mark.parametrize("seed,asynchronous", [(1, True), (2, True), (3, False)])
def test_any_order_of_requests_keeps_every_byte(agent, engines, seed, asynchronous):
    engine = engines(agent.address, blocks=40, kind="cross" if seed == 2 else "hnd", async_load=asynchronous)
    random_ = random.Random(seed)
    fuzz(engine, random_, 120)
    for _ in range(10):  # Which step preempts depends on when answers come.
        if engine.preemptions == 0:
            fuzz(engine, random_, 120)
    assert engine.preemptions > 0
    health = agent.health()
    assert health.waiting_requests == 0


def test_an_agent_that_dies_and_comes_back_with_wrong_bytes_in_its_store(processes, engines):
    agent = Agent(processes, "mortal", block_bytes(2), TOKENS).start().await_on_the_log()
    engine = engines(agent.address, blocks=40)
    tokens = prompt("stored", 22)
    serve(engine, "r1", tokens)
    await_saved(engine, tokens, 20)
    until = time.monotonic() + 60
    while len(agent.stored(block_bytes(2))) < 5:
        assert time.monotonic() < until, agent.stored(block_bytes(2))
        time.sleep(0.05)
    for path in agent.stored(block_bytes(2)):
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
    threads = []

    def kill():
        if not threads and engine.connector._scheduler._registered:
            agent.kill()
            threads.append(threading.Thread(target=agent.start))
            threads[-1].start()

    fuzz(engine, random.Random(5), 60, kill)
    kill()
    began = time.monotonic()
    serve(engine, "while-away", prompt("away", 30))
    assert time.monotonic() - began < 5
    threads[0].join()
    agent.await_on_the_log()
    until = time.monotonic() + 60
    while not engine.connector._scheduler._registered:
        assert time.monotonic() < until
        engine.step()
        time.sleep(0.01)
    engine.pool.evict_cached()
    assert serve(engine, "r2", tokens) == 0, "its host is empty, and what its store has is wrong"
    serve(engine, "back", prompt("back", 30))
    assert await_saved(engine, prompt("back", 30), 28) == 28
    engine.close()
    agent.kill()


def test_an_agent_that_is_away_costs_a_request_no_more_than_its_bound(engines, tmp_path):
    engine = engines(f"unix:{tmp_path}/none", ready=False)
    took = []
    for i in range(20):
        engine.add(Request(f"r{i}", prompt(i, 20), 2))
        began = time.monotonic()
        while engine.requests[f"r{i}"].status is Status.WAITING:
            engine.step()
        took.append(time.monotonic() - began)
    run(engine)
    assert max(took) < 0.1, took
    assert sum(took) < 0.5, took


def test_no_thread_is_left_and_the_session_ends(agent, engines):
    before = {thread.name for thread in threading.enumerate()}
    engine = engines(agent.address)
    serve(engine, "r1", prompt("threads", 20))
    engine.close()
    until = time.monotonic() + 10
    while {t.name for t in threading.enumerate() if t.is_alive()} - before:
        assert time.monotonic() < until, threading.enumerate()
        time.sleep(0.05)


def test_reset_finds_nothing_of_before(agent, engines):
    engine = engines(agent.address)
    serve(engine, "r1", prompt("reset", 22))
    await_saved(engine, prompt("reset", 22), 20)
    assert engine.connector.reset_cache() is True
    engine.pool.evict_cached()
    until = time.monotonic() + 20
    while not engine.connector._scheduler._registered:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert serve(engine, "r2", prompt("reset", 22)) == 0
