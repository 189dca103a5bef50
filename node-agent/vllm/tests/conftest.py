# SPDX-License-Identifier: Apache-2.0
"""One broker and one controller for all tests, and one agent for those that do not kill it."""
from __future__ import annotations

import pathlib
import sys
import time
import uuid

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from processes import Agent, Processes  # noqa: E402
from standin import Engine, block_bytes, TOKENS  # noqa: E402


@pytest.fixture(scope="session")
def processes(tmp_path_factory):
    made = Processes(tmp_path_factory.mktemp("tierlog"))
    yield made
    try:
        made.verify_log()
    finally:
        made.close()


@pytest.fixture(scope="session")
def agent(processes):
    return Agent(processes, "a", block_bytes(2), TOKENS).start().await_on_the_log()


@pytest.fixture
def engines(monkeypatch):
    """Makes engines, with a namespace of the test's own, and closes them."""
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    made = []
    namespace = uuid.uuid4().hex[:8]

    def make(address, ready=True, **options):
        options.setdefault("namespace", namespace)
        options.setdefault("engine", uuid.uuid4().hex)
        if ready:  # a busy machine is no reason for a miss
            options.setdefault("bound_ms", 10_000)
            options.setdefault("lookup_ms", 10_000)
        engine = Engine(address, **options)
        made.append(engine)
        if ready:
            until = time.monotonic() + 60
            while not engine.connector._scheduler._registered:
                assert time.monotonic() < until, "the session did not begin"
                time.sleep(0.005)
        return engine

    yield make
    for engine in made:
        engine.close()
