# SPDX-License-Identifier: Apache-2.0
"""Follows one stream of `tierlog bridge publish` as a router does: subscribe, ask for all old batches, apply what comes live.

Arguments: address of events, address of replays, MAPS or ARRAYS. Prints "subscribed" once a live batch has come, and, once the last block has
come, a JSON list of KEY NODE TIER.
"""
import json
import struct
import sys

import msgpack
import zmq

LAST = 0x7FFF000000000001
TIERS = {("CPU", None): "HOST", ("DISK", None): "DISK", ("STORAGE", "LOCAL"): "DISK", ("STORAGE", "REMOTE"): "STORE", ("STORAGE", None): "STORE"}


def event(raw, form):
    """Type, hashes, medium and locality of an event."""
    if form == "MAPS":
        return raw["type"], raw["block_hashes"], raw["medium"], raw.get("locality")
    return raw[0], raw[1], raw[6] if raw[0] == "BlockStored" else raw[2], None


def main(events, replays, form):
    context = zmq.Context()
    sub = context.socket(zmq.SUB)
    sub.setsockopt(zmq.SUBSCRIBE, b"kv@")
    sub.connect(events)
    live = [sub.recv_multipart()]
    dealer = context.socket(zmq.DEALER)
    dealer.connect(replays)
    dealer.send_multipart([b"", struct.pack(">Q", 0)])
    held = set()
    last = -1
    done = False

    def apply(topic, seq, payload):
        nonlocal last, done
        assert seq == last + 1, f"batch {seq} after {last}"
        last = seq
        when, changes, rank = msgpack.unpackb(payload)
        assert isinstance(when, float) and rank == 0
        kind, pod, model = topic.decode().split("@", 2)
        assert kind == "kv" and model == "llama", topic
        for raw in changes:
            name, hashes, medium, locality = event(raw, form)
            for key in hashes:
                what = f"{key:016x} ext-{pod.replace(':', '-')}-dp0 {TIERS[medium, locality]}"
                if name == "BlockStored":
                    assert what not in held, what
                    held.add(what)
                    done = done or key == LAST
                else:
                    assert name == "BlockRemoved"
                    held.remove(what)

    while True:
        frames = dealer.recv_multipart()
        if frames[-2] == b"\xff" * 8:
            assert frames == [b"", b"", b"\xff" * 8, b""], frames
            break
        empty, topic, number, payload = frames
        assert empty == b""
        apply(topic, struct.unpack(">Q", number)[0], payload)
    print("subscribed", flush=True)
    while not done:
        topic, seq, payload = live.pop(0) if live else sub.recv_multipart()
        number = struct.unpack(">Q", seq)[0]
        if number > last:
            apply(topic, number, payload)
    print(json.dumps(sorted(held)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
