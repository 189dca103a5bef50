# SPDX-License-Identifier: Apache-2.0
"""Engines that publish KV events, one publisher per rank, each in the wire form of its dialect; and what each of them really holds.

Written from the descriptions of the dialects, with pyzmq and msgpack, and shares nothing with the decoder that it tests.

Arguments: REPLAYS or NONE, then the port to which the engines connect that do not bind. Prints a JSON list of sources. Each line on the standard
input is then a step: "run" serves 1,000 requests per dialect with evictions, lost batches, and a restart of each rank; "settle" starts each
publisher again, waits for its subscriber, and serves some more without a loss. Both print what is there: a JSON list of objects with dialect,
replays (whether it can answer some), truth (NAMESPACE, KEY, NODE, TIER of each block that is there) and ever (NAMESPACE, KEY of each block that
ever was). Ends with its input.
"""
import json
import random
import select
import struct
import sys
from collections import OrderedDict, deque

import msgpack
import zmq

from engine_dialects import DIALECTS, Block, Sglang, VllmMaps

REQUESTS = 1_000
RANKS = 2
RING = 10_000
END = b"\xff" * 8


class Publisher:
    """One rank: its pools, its sockets, its ring."""

    def __init__(self, context, dialect, rank, replays, port):
        self.context, self.dialect, self.rank = context, dialect, rank
        self.random = random.Random(f"{dialect.name} {rank}")
        self.replays = replays and dialect.replays
        self.central = f"tcp://127.0.0.1:{port}"
        self.events = self.answers = None
        self.time = 1757500000.25
        self.life = 0
        self.ever = set()
        self.roots = {}
        self.begin("tcp://127.0.0.1:*", "tcp://127.0.0.1:*")

    def begin(self, events, answers):
        self.pools = {medium: OrderedDict() for medium in self.dialect.tiers}
        self.seq = self.dialect.first
        self.ring = deque(maxlen=RING)
        if hasattr(self.dialect, "begin"):
            self.dialect.begin(self.rank, self.life)
        # To subscribers it is a PUB socket; it shows who has subscribed.
        self.events = self.context.socket(zmq.XPUB)
        self.events.sndhwm = 100_000
        self.events.linger = 1_000
        self.subscribed = False
        if self.dialect.connects:
            self.events.connect(self.central)
        else:
            self.bind(self.events, events)
        if self.replays:
            self.answers = self.context.socket(zmq.ROUTER)
            self.answers.linger = 0
            self.bind(self.answers, answers)

    @staticmethod
    def bind(socket, address):
        for _ in range(600):
            try:
                socket.bind(address)
                return
            except zmq.ZMQError as failed:
                if failed.errno != zmq.EADDRINUSE:
                    raise
                select.select([], [], [], 0.1)  # The old process has not given its port back yet.
        raise TimeoutError(address)

    @staticmethod
    def address(socket):
        return socket.getsockopt(zmq.LAST_ENDPOINT).decode().rstrip("\0")

    def source(self):
        address = "" if self.dialect.connects else self.address(self.events)
        return address and address + (" replay=" + self.address(self.answers) if self.replays else "") + self.dialect.source(self.rank)

    def restart(self):
        events = "" if self.dialect.connects else self.address(self.events)
        answers = self.address(self.answers) if self.replays else ""
        self.events.close()
        if self.replays:
            self.answers.close()
        self.life += 1
        self.begin(events, answers)

    def await_subscriber(self):
        if not self.subscribed:
            if not self.events.poll(60_000):
                raise TimeoutError(f"no subscriber of {self.dialect.name} {self.rank}")
            self.events.recv()
            self.subscribed = True

    def answer(self):
        """Answers what was asked, as publishers do between two batches."""
        while self.replays and self.answers.poll(0):
            client, empty, start = self.answers.recv_multipart()
            assert empty == b""
            for topic, number, payload in self.ring:
                if number >= struct.unpack(">Q", start)[0]:
                    named = [topic] if self.dialect.topic_in_replay else []
                    self.answers.send_multipart([client, b"", *named, struct.pack(">Q", number), payload])
            self.answers.send_multipart([client, b"", *([b""] if self.dialect.topic_in_replay else []), END, b""])

    def publish(self, medium, events, lost):
        flat = []
        for event in events:
            flat.extend(event if isinstance(event, list) and isinstance(event[0], dict) else [event])
        topic = self.dialect.topic(self.rank, medium).encode()
        self.time += 0.125
        payload = msgpack.packb(self.dialect.batch(self.time, flat, self.rank))
        self.ring.append((topic, self.seq, payload))
        if not lost:
            self.events.send_multipart([topic, struct.pack(">Q", self.seq), payload] if self.dialect.frames == 3 else [payload])
        self.seq += 1
        self.answer()

    def prompt(self):
        scope = self.random.choice(self.dialect.scopes)
        path, parent = [], None
        for index in range(self.random.randint(1, 8)):
            branch = self.random.randrange(12) if index == 0 else 0 if index < 3 else self.random.randrange(3)
            at = (parent, branch, scope)
            if at not in self.roots:
                start = 100 * branch + index
                self.roots[at] = Block(parent, list(range(start, start + self.dialect.tokens)), index, scope)
            parent = self.roots[at]
            path.append(parent)
        return path

    def request(self, loss):
        """Computes what the device lacks of a prompt, copies some to the tiers below, and evicts what does not fit."""
        path = self.prompt()
        out = {medium: [] for medium in self.pools}
        media = list(self.pools)
        moving = hasattr(self.dialect, "moved")
        for medium in media:
            pool = self.pools[medium]
            chosen = path if medium == media[0] else [block for block in path if self.random.random() < 0.3]
            run = []
            for block in chosen if not (moving and medium != media[0]) else []:
                again = self.dialect.copies and medium == media[0] and self.random.random() < 0.03
                if block not in pool or again:
                    pool[block] = pool.get(block, 0) + 1
                    self.ever.add(block)
                    if run and (self.dialect.page_events or run[-1] is not block.parent):
                        out[medium].append(self.dialect.stored(medium, run))
                        run = []
                    run.append(block)
                pool.move_to_end(block)
            if run:
                out[medium].append(self.dialect.stored(medium, run))
            while len(pool) > (60 if medium == media[0] else 90):
                block = next(iter(pool))
                if moving and medium == media[0] and self.random.random() < 0.5 and block not in self.pools[media[1]]:
                    self.pools[media[1]][block] = 1
                    del pool[block]
                    out[medium].append(self.dialect.moved(block))
                    continue
                out[medium].append(self.dialect.removed(medium, block))
                pool[block] -= 1
                if not pool[block]:
                    del pool[block]
        by_topic = {}
        for medium, events in out.items():
            by_topic.setdefault(self.dialect.topic(self.rank, medium), []).append((medium, events))
        for parts in by_topic.values():
            events = [event for _, some in parts for event in some]
            if events:
                self.publish(parts[0][0], events, self.random.random() < loss)

    def clear(self):
        """The device is emptied, and with it the tiers below: an engine tells of the device alone."""
        self.publish(next(iter(self.pools)), [self.dialect.cleared()], False)
        for pool in self.pools.values():
            pool.clear()

    def truth(self):
        return [(self.dialect.namespace(block), self.dialect.key_hex(block), self.dialect.node(self.rank, medium), self.dialect.tiers[medium])
                for medium, pool in self.pools.items() for block in pool]


def answer_until_input(publishers):
    """Serves replays until a line comes; empty at the end of the input."""
    while not select.select([sys.stdin], [], [], 0.01)[0]:
        for publisher in publishers:
            publisher.answer()
    return sys.stdin.readline().strip()


def report(publishers):
    by_dialect = {}
    for publisher in publishers:
        dialect = publisher.dialect
        entry = by_dialect.setdefault(dialect.name, {"dialect": dialect.name, "replays": dialect.replays, "truth": [], "ever": []})
        entry["truth"] += publisher.truth()
        entry["ever"] += [(dialect.namespace(block), dialect.key_hex(block)) for block in publisher.ever]
    print(json.dumps(list(by_dialect.values())), flush=True)


def run(publishers, replays):
    parts = 4
    for part in range(parts):
        for publisher in publishers:
            loss = 0.05 if publisher.dialect.losses and (replays or part < parts - 1) else 0
            # Each process is seen; with replays its first batches are published before it is.
            publisher.await_subscriber()
            for _ in range(REQUESTS // RANKS // parts):
                publisher.request(loss)
            if part == publisher.rank + 1:
                if publisher.dialect.replays and isinstance(publisher.dialect, (VllmMaps, Sglang)):
                    publisher.clear()
                publisher.restart()
                for _ in range(10 if publisher.replays else 0):
                    publisher.request(loss)


def settle(publishers):
    for publisher in publishers:
        publisher.restart()
    for publisher in publishers:
        publisher.await_subscriber()
        for _ in range(20):
            publisher.request(0)


def main(mode, port):
    context = zmq.Context()
    replays = mode == "REPLAYS"
    publishers = [Publisher(context, dialect, rank, replays, port) for dialect in [each() for each in DIALECTS] for rank in range(RANKS)]
    print(json.dumps([publisher.source() for publisher in publishers if publisher.source()]), flush=True)
    while True:
        line = answer_until_input(publishers)
        if not line:
            break
        if line == "run":
            run(publishers, replays)
        else:
            settle(publishers)
        report(publishers)
    context.destroy(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
