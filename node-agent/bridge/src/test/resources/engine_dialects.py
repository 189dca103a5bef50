# SPDX-License-Identifier: Apache-2.0
"""The wire forms of KV events, dialect by dialect, for engines.py. Written from the descriptions of the dialects alone."""
import hashlib
import struct

import msgpack


class Block:
    """A block of a prompt: its digest chains over all tokens before it."""

    def __init__(self, parent, tokens, index, scope):
        self.parent = parent
        self.tokens = tokens
        self.index = index
        self.scope = scope
        before = parent.digest if parent else scope.encode()
        self.digest = hashlib.sha256(before + b"".join(struct.pack("<I", token) for token in tokens)).digest()


class Dialect:
    """vLLM from 0.10.2 to 0.23: events are arrays, keys the low 64 bits."""

    name = "vllm-arrays"
    model = "m-vllm-arrays"
    tiers = {"GPU": "DEVICE", "CPU": "HOST"}
    copies = True  # Two requests may each store a copy of a block.
    replays = True
    topic_in_replay = False
    connects = False
    first = 0
    frames = 3
    losses = True
    tokens = 16
    scopes = ("",)
    page_events = False

    def pod(self, rank):
        # The ranks of an instance have one name.
        return self.name

    def topic(self, rank, medium):
        return f"kv@{self.pod(rank)}@{self.model}"

    def node(self, rank, medium):
        return f"ext-{self.pod(rank)}-dp{rank}"

    def source(self, rank):
        """What the operator adds to the source."""
        return ""

    def namespace(self, block, group=0):
        return self.model + (f";g={group}" if group else "") + (f";lora={block.scope}" if block.scope else "")

    def key(self, block):
        return struct.unpack(">Q", block.digest[-8:])[0]

    def key_hex(self, block):
        key = self.key(block)
        return key.hex() if isinstance(key, bytes) else f"{key & (2 ** 64 - 1):016x}"

    def parent(self, block):
        return self.key(block.parent) if block.parent else None

    def batch(self, time, events, rank):
        return [time, events, rank]

    def fields(self, medium, blocks):
        ids = [token for block in blocks for token in block.tokens]
        return [self.key(block) for block in blocks], self.parent(blocks[0]), ids

    def stored(self, medium, blocks):
        keys, parent, ids = self.fields(medium, blocks)
        return ["BlockStored", keys, parent, ids, self.tokens, None, medium, blocks[0].scope or None, [None] * len(blocks), 0,
                "full_attention", None]

    def removed(self, medium, block):
        return ["BlockRemoved", [self.key(block)], medium, 0]

    def cleared(self):
        return ["AllBlocksCleared"]


class Vllm09(Dialect):
    name, model = "vllm-0-9", "m-vllm-0-9"
    tiers = {"GPU": "DEVICE"}

    def source(self, rank):
        return f" rank={rank}"

    def batch(self, time, events, rank):
        return [time, events]

    def stored(self, medium, blocks):
        keys, parent, ids = self.fields(medium, blocks)
        return ["BlockStored", keys, parent, ids, self.tokens, None]

    def removed(self, medium, block):
        return ["BlockRemoved", [self.key(block)]]


class VllmConnects(Dialect):
    """Pods that connect to one subscriber, as in llm-d and AIBrix; their keys are whole digests."""

    name, model = "vllm-connects", "m-vllm-connects"
    connects = True
    replays = False
    losses = False

    def key(self, block):
        return block.digest


class VllmMaps(Dialect):
    """vLLM from 0.24: maps that leave defaults out; hybrid models have a block once per group; the tiers below name no tokens."""

    name, model = "vllm-maps", "m-vllm-maps"
    tiers = {"GPU": "DEVICE", "CPU": "HOST", "STORAGE": "STORE"}
    topic_in_replay = True
    scopes = ("", "sql-adapter")

    def stored(self, medium, blocks):
        keys, parent, ids = self.fields(medium, blocks)
        if medium == "GPU":
            event = {"type": "BlockStored", "block_hashes": keys, "parent_block_hash": parent, "token_ids": ids, "block_size": self.tokens,
                     "lora_id": None, "medium": medium, "lora_name": blocks[0].scope or None}
            if len(keys) > 1:
                event.update(group_idx=0, kv_cache_spec_kind="full_attention")
            return event
        event = {"type": "BlockStored", "block_hashes": keys, "parent_block_hash": parent, "token_ids": ids, "block_size": self.tokens,
                 "lora_id": None, "medium": medium, "lora_name": blocks[0].scope or None, "extra_keys": [None] * len(keys)}
        if medium == "STORAGE":
            event["locality"] = "REMOTE"
            event["ownership"] = "shared"
        return event

    def removed(self, medium, block):
        event = {"block_hashes": [self.key(block)], "medium": medium, "type": "BlockRemoved"}
        if medium == "STORAGE":
            event["locality"] = "REMOTE"
        return event

    def cleared(self):
        return {"type": "AllBlocksCleared"}


class VllmOffloads(VllmMaps):
    """Offloading without descriptions: placeholders without tokens, parent and size. The batch is a map."""

    name, model = "vllm-offloads", "m-vllm-offloads"
    tiers = {"GPU": "DEVICE", "CPU": "HOST"}
    scopes = ("",)

    def batch(self, time, events, rank):
        return {"ts": time, "events": events, "data_parallel_rank": rank}

    def stored(self, medium, blocks):
        event = super().stored(medium, blocks)
        if medium == "CPU":
            event.update(parent_block_hash=None, token_ids=[], block_size=0)
        return event


class Sglang(Dialect):
    """Arrays of 6, one event per page, the first 64 bits as a signed number."""

    name, model = "sglang", "m-sglang"
    tiers = {"GPU": "DEVICE", "CPU_PINNED": "HOST", "DISK": "DISK"}
    copies = False
    page_events = True

    def key(self, block):
        return struct.unpack(">q", block.digest[:8])[0]

    def stored(self, medium, blocks):
        keys, parent, ids = self.fields(medium, blocks)
        return ["BlockStored", keys, parent, ids, self.tokens, None, medium]

    def removed(self, medium, block):
        return ["BlockRemoved", [self.key(block)], medium]


class SglangEagle(Sglang):
    """Pairs of tokens, and the proposed epoch with digests that are not for us."""

    name, model = "sglang-eagle", "m-sglang-eagle"

    def __init__(self):
        self.epochs = {}

    def begin(self, rank, life):
        self.epochs[rank] = hashlib.md5(f"{rank} {life}".encode()).hexdigest()

    def batch(self, time, events, rank):
        return [time, events, rank, self.epochs[rank], ["CacheStateDigest", 41, 2, "xor-sha256-v1", "ab" * 32]]

    def fields(self, medium, blocks):
        keys, parent, ids = super().fields(medium, blocks)
        return keys, parent, [[one, other] for one, other in zip(ids, ids[1:] + [0])]


class SglangMaps(Sglang):
    name, model = "sglang-maps", "m-sglang-maps"
    scopes = ("", "tenant-a")

    def namespace(self, block, group=0):
        return self.model + (f";salt={block.scope}" if block.scope else "")

    def stored(self, medium, blocks):
        keys, parent, ids = self.fields(medium, blocks)
        event = {"type": "BlockStored", "block_hashes": keys, "parent_block_hash": parent, "token_ids": ids, "block_size": self.tokens,
                 "lora_id": None, "medium": medium}
        if blocks[0].scope:
            event["cache_salt"] = blocks[0].scope
        return event

    def removed(self, medium, block):
        return {"type": "BlockRemoved", "block_hashes": [self.key(block)], "medium": medium}


class TensorRt(VllmMaps):
    """TensorRT-LLM behind Dynamo: vLLM's maps with signed keys."""

    name, model = "tensorrt-llm", "m-tensorrt-llm"
    tiers = {"GPU": "DEVICE", "CPU": "HOST"}
    scopes = ("",)
    copies = False

    def key(self, block):
        return struct.unpack(">q", block.digest[:8])[0]


class Dynamo(Dialect):
    """A worker of Dynamo: a list of multi-modal infos before the group."""

    name, model = "dynamo", "m-dynamo"

    def stored(self, medium, blocks):
        event = super().stored(medium, blocks)
        event.insert(9, [None] * len(blocks))
        return event


class TokenSpeed(Dialect):
    name, model = "tokenspeed", "m-tokenspeed"
    tiers = {"GPU": "DEVICE"}
    copies = False

    def stored(self, medium, blocks):
        keys, parent, ids = self.fields(medium, blocks)
        return ["BlockStored", keys, parent, ids, self.tokens]

    def removed(self, medium, block):
        return ["BlockRemoved", [self.key(block)]]


class TokenSpeedMaps(Dialect):
    name, model = "tokenspeed-maps", "m-tokenspeed-maps"
    tiers = {"gpu": "DEVICE", "cpu": "HOST", "disk": "DISK"}
    copies = False

    def __init__(self):
        self.events = 0

    def more(self, event):
        event.update(backend_id="tokenspeed-worker", model_name=self.model, tenant_id="default", event_id=self.events)
        self.events += 1
        return event

    def stored(self, medium, blocks):
        keys, parent, ids = self.fields(medium, blocks)
        return self.more({"type": "BlockStored", "block_hashes": keys, "parent_block_hash": parent, "token_ids": ids,
                          "block_size": self.tokens, "medium": medium})

    def removed(self, medium, block):
        return self.more({"type": "BlockRemoved", "block_hashes": [self.key(block)], "medium": medium})


class Mooncake(Dialect):
    """Mooncake's masters: each a pool of objects; both names of a hash; counts from 1; the time is in milliseconds."""

    name, model = "mooncake", "m-mooncake"
    tiers = {"cpu": "HOST", "disk": "DISK"}
    copies = False
    replays = False
    first = 1
    losses = False

    def topic(self, rank, medium):
        return ""

    def node(self, rank, medium):
        return f"ext-{self.name}-{rank}-dp0"

    def source(self, rank):
        return f" name={self.name}-{rank}"

    def batch(self, time, events, rank):
        return [int(time * 1000), events, 0]

    def event(self, kind, medium, block):
        key = self.key(block)
        return {"event_id": 1, "timestamp": 1757500000250, "event_type": kind, "type": "Block" + kind.title(), "model_name": self.model,
                "block_size": None, "additional_salt": None, "lora_name": None, "tenant_id": "default", "backend_id": "pool-0",
                "group_id": None, "medium": medium, "dp_rank": None, "object_key": f"0x{key:016x}", "seq_hashes": [key],
                "block_hashes": [struct.unpack(">q", struct.pack(">Q", key))[0]], "base_block_idx": 0, "parent_hash": None, "token_ids": None,
                "parent_block_hash": None}

    def stored(self, medium, blocks):
        return [self.event("stored", medium, block) for block in blocks]

    def removed(self, medium, block):
        return self.event("removed", medium, block)


class LlmdStorage(Dialect):
    """Storage of llm-d: each event a blob of its own, no tokens, parent 0, counts from 1; it connects, and its name is its topic's."""

    name, model = "llmd-storage", "m-llmd-storage"
    tiers = {"SHARED_STORAGE": "STORE", "OBJECT_STORE": "STORE"}
    copies = False
    replays = False
    connects = True
    first = 1
    losses = False

    def pod(self, rank):
        return f"{self.name}-{rank}"

    def node(self, rank, medium):
        return f"ext-{self.pod(rank)}-dp0"

    def batch(self, time, events, rank):
        return [time, [msgpack.packb(event) for event in events]]

    def stored(self, medium, blocks):
        return ["BlockStored", [self.key(block) for block in blocks], 0, [], 0, None, medium]

    def removed(self, medium, block):
        return ["BlockRemoved", [self.key(block)], medium]


class LmCache(Dialect):
    """LMCache's coordinator: chunks of 256 tokens, whole digests, one count over the topics of the instance and of the pool."""

    name, model = "lmcache", "m-lmcache"
    tiers = {"lmcache-l1": "HOST", "lmcache-l2-fs": "STORE"}
    copies = False
    topic_in_replay = True
    tokens = 256

    def pod(self, rank):
        return f"{self.name}-{rank}"

    def topic(self, rank, medium):
        return f"kv@{self.pod(rank) if medium == 'lmcache-l1' else 'pool:fs' + str(rank)}@{self.model}"

    def node(self, rank, medium):
        return f"ext-{self.pod(rank) if medium == 'lmcache-l1' else 'pool-fs' + str(rank)}-dp0"

    def key(self, block):
        return block.digest

    def batch(self, time, events, rank):
        return [time, events, None]

    def stored(self, medium, blocks):
        keys, parent, ids = self.fields(medium, blocks)
        return ["BlockStored", keys, parent, ids, self.tokens, None, medium]

    def removed(self, medium, block):
        return ["BlockRemoved", [self.key(block)], medium]


class Atom(Dialect):
    """AMD ATOM: one frame without a number, moves between tiers, no replay. Its losses cannot be seen."""

    name, model = "atom", "m-atom"
    copies = False
    replays = False
    frames = 1
    losses = False

    def topic(self, rank, medium):
        return ""

    def source(self, rank):
        return f" name={self.name} model={self.model} rank={rank}"

    def moved(self, block):
        return ["BlockTransferred", [self.key(block)], "GPU", "CPU", 0]


DIALECTS = [Dialect, Vllm09, VllmConnects, VllmMaps, VllmOffloads, Sglang, SglangEagle, SglangMaps, TensorRt, Dynamo, TokenSpeed, TokenSpeedMaps,
            Mooncake, LlmdStorage, LmCache, Atom]
