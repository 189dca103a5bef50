#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How an inference engine uses its Tierlog agent: it registers device memory, computes and seals blocks, saves them, and loads them again.

Usage: engine.py [ADDRESS] [SECONDS]
    ADDRESS  127.0.0.1:7070 (the default) or unix:/absolute/path, as the agent's --port or --engine-socket
    SECONDS  how long to wait for the agent to be on the log (default 30)
Needs Debian's python3-grpcio, python3-protobuf and protobuf-compiler; the messages are made from the .proto at every start. (The protoc inside
Debian's python3-grpc-tools is too old for it.) Exit code 0: every byte came back.
The agent must have the default layout: blocks of 16 KiB and 512 tokens.
"""
import hashlib, mmap, os, pathlib, subprocess, sys, tempfile, threading, time, types

import grpc

ADDRESS = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:7070"
PATIENCE = float(sys.argv[2]) if len(sys.argv) > 2 else 30
# The directory of the .proto is the import root: from further up the package would be called "io", as a module of Python's own is.
PROTO = pathlib.Path(__file__).resolve().parents[2] / "schemas/engine/src/main/proto/io/tierlog/engine/v1"
with tempfile.TemporaryDirectory() as made:
    subprocess.run(["protoc", f"-I{PROTO}", f"--python_out={made}", "engine.proto"], check=True)
    sys.path.insert(0, made)
    import engine_pb2 as d


def stub(channel):  # what grpc_tools would generate: a callable for each call of the service
    service = d.DESCRIPTOR.services_by_name["EngineService"]
    kinds = {method.name: channel.unary_stream if method.name == "Open" else channel.unary_unary for method in service.methods}
    return types.SimpleNamespace(**{
        method.name: kinds[method.name](
            f"/{service.full_name}/{method.name}",
            getattr(d, method.input_type.name).SerializeToString, getattr(d, method.output_type.name).FromString)
        for method in service.methods})


TOKENS, BLOCKS, PAGES = 512, 4, 16  # tokens of a block, blocks of the prompt, pages of the device pool
PREFILL_NS = 100_000                # what computing a token of a prompt costs, where the engine knows it: bounds the wait for a fetch
NAMESPACE = "example-model/bf16"    # all that must match for KV to be reusable: model, revision, dtype, adapter, tenant
DIGEST = hashlib.sha256(b"kv|ATTENTION|1|512|16384|1|u8\n").digest()  # the layouts that both sides agree on
agent = stub(grpc.insecure_channel(ADDRESS))
CALL = {"timeout": 20}              # every call has a deadline

# 1. A session is a stream of notices. When it ends, for whatever reason, the agent takes back all that it held for this engine.
notices = agent.Open(d.OpenRequest(instance=f"example-{os.getpid()}"))
late = threading.Timer(CALL["timeout"], notices.cancel)  # the stream has no end of its own, but its first notice has
late.start()
opened = next(notices).opened
late.cancel()
received, news = {}, threading.Condition()  # (kind, request) -> notice


def listen():
    try:
        for notice in notices:
            kind = notice.WhichOneof("notice")
            with news:
                received[kind, getattr(getattr(notice, kind), "request", "")] = getattr(notice, kind)
                news.notify_all()
    except grpc.RpcError:
        pass  # the session is over


def wait(kind, request):
    with news:
        if not news.wait_for(lambda: (kind, request) in received, CALL["timeout"]):
            sys.exit(f"no {kind} for {request}")
        return received[kind, request]


threading.Thread(target=listen, daemon=True).start()
end = time.monotonic() + PATIENCE
while not agent.Health(d.HealthRequest(), **CALL).on_the_log:  # before, nothing would be saved, and all else works
    if time.monotonic() > end:
        sys.exit(f"the agent of node {opened.node} is not on the log: is a controller running?")
    time.sleep(0.1)

# 2. The device: on a GPU these would be CUDA allocations and their IPC handles; the emulated device is a file in shared memory.
size = opened.block_bytes
path = pathlib.Path(tempfile.mkdtemp(prefix="tierlog-example-", dir="/dev/shm")) / "device"
path.write_bytes(bytes(PAGES * size))
with path.open("r+b") as file:
    device = mmap.mmap(file.fileno(), PAGES * size)
try:
    agent.RegisterBuffers(d.RegisterBuffersRequest(
        session=opened.session, shared_memory_path=str(path), pages=PAGES, block_bytes=size, layout_digest=DIGEST), **CALL)
    print(f"session {opened.session} with node {opened.node}: {PAGES} pages of {size} bytes")

    # 3. A request. The key of a block is a hash chained over the prompt, so it names the whole prefix; the last token is always computed.
    seed, keys = os.urandom(8), []
    for i in range(BLOCKS):
        keys.append(hashlib.sha256((keys[-1] if keys else seed) + bytes([i])).digest()[:16])
    content = [hashlib.shake_256(key).digest(size) for key in keys]  # stands for the KV that a model would compute

    def submit(request):
        reply = agent.Submit(d.SubmitRequest(
            session=opened.session, request=request, attempt=1, namespace=NAMESPACE, keys=keys,
            prompt_tokens=BLOCKS * TOKENS + 1, block_tokens=TOKENS, reuse_eligible=True, prefill_ns_per_token=PREFILL_NS), **CALL)
        offer = reply.offer if reply.HasField("offer") else wait("ready", request).offer  # "waiting" means that a fetch may come first
        print(f"{request}: offered {len(offer.sources)} of {BLOCKS} blocks, reason {d.OfferReason.Name(offer.reason)}")
        return offer

    def name(request):
        return dict(session=opened.session, request=request, attempt=1)

    def pages(first):  # a page's generation rises whenever it gets other content
        return [d.BlockPage(index=i, key=key, page=first + i, generation=1) for i, key in enumerate(keys)]

    first, second = f"first-{os.getpid()}", f"second-{os.getpid()}"
    assert not submit(first).sources, "no node can have these blocks yet"
    for i in range(BLOCKS):                       # compute into pages 0 to 3
        device[i * size:(i + 1) * size] = content[i]
    agent.Prefilled(d.PrefilledRequest(**name(first), computed_blocks=BLOCKS), **CALL)
    agent.Sealed(d.SealedRequest(**name(first), namespace=NAMESPACE, root=keys[0], blocks=pages(0)), **CALL)
    saved = agent.Save(d.SaveRequest(**name(first), namespace=NAMESPACE, blocks=pages(0)), **CALL)
    print(f"{first}: saved {sum(block.done for block in saved.blocks)} of {BLOCKS} blocks to the host")  # optional: Finish would do it too
    agent.Finish(d.FinishRequest(**name(first), outcome=d.FinishRequest.OUTCOME_COMPLETED, generated_tokens=1), **CALL)
    print(f"{first}: pages {sorted(wait('released', first).pages)} are released")  # until then the engine must not write to them

    # 4. The same prompt again: its blocks come back to other pages. Load consumes the lease of the offer.
    offer = submit(second)
    loaded = agent.Load(d.LoadRequest(**name(second), namespace=NAMESPACE, lease=offer.lease, blocks=pages(8)[:len(offer.sources)]), **CALL)
    same = sum(device[(8 + i) * size:(9 + i) * size] == content[i] for i in range(loaded.loaded))
    print(f"{second}: loaded {loaded.loaded} blocks into pages 8 to {7 + loaded.loaded}, {same} of them byte for byte what was computed")
    agent.Prefilled(d.PrefilledRequest(**name(second), loaded_blocks=loaded.loaded, computed_blocks=BLOCKS - loaded.loaded), **CALL)
    agent.Finish(d.FinishRequest(**name(second), outcome=d.FinishRequest.OUTCOME_COMPLETED, generated_tokens=1), **CALL)
    sys.exit(0 if same == BLOCKS else "not every block came back")
finally:
    notices.cancel()
    path.unlink()
    path.parent.rmdir()
