# SPDX-License-Identifier: Apache-2.0
"""What the scheduler side orders of the worker side in a step: plain data, so that it pickles."""
from __future__ import annotations

from dataclasses import dataclass, field

from tierlog_vllm.compat import KVConnectorMetadata


@dataclass(frozen=True)
class Attempt:
    """One attempt of a request in one session of the agent. ``request`` is vLLM's name, which another process of the engine may give again; ``name``,
    under which the agent and the log know it, is never given twice.
    """

    session: str
    request: str
    name: str
    number: int
    namespace: str


@dataclass(frozen=True)
class Block:
    """A block of a prompt in a page of the device; vLLM's block id is the page."""

    index: int
    key: bytes
    page: int
    generation: int


@dataclass
class Load:
    """Load these blocks. ``wait``: before the step computes; otherwise the request waits and is named when it is over."""

    attempt: Attempt
    lease: str
    blocks: list[Block]
    wait: bool


@dataclass
class Seal:
    """After this step these blocks are whole."""

    attempt: Attempt
    root: bytes
    parent: bytes
    blocks: list[Block]


@dataclass
class Prefilled:
    """With this step the prompt is computed; counts in blocks."""

    attempt: Attempt
    device: int
    loaded: int
    computed: int


@dataclass
class End:
    """The attempt has ended. ``hold``: the worker names the request when the agent has released its pages, and vLLM keeps them until then."""

    attempt: Attempt
    outcome: str  # COMPLETED, PREEMPTED or CANCELLED
    generated: int
    hold: bool


@dataclass
class TierlogMetadata(KVConnectorMetadata):
    """All orders of a step."""

    session: str = ""
    tokens: bool = False  # whether the step computes, so that ``wait_for_save`` is called at its end
    loads: list[Load] = field(default_factory=list)
    seals: list[Seal] = field(default_factory=list)
    prefilled: list[Prefilled] = field(default_factory=list)
    preempted: list[End] = field(default_factory=list)
    ends: list[End] = field(default_factory=list)
