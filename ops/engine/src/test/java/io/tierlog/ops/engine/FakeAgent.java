/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.tierlog.engine.v1.Ack;
import io.tierlog.engine.v1.BlockPage;
import io.tierlog.engine.v1.EngineServiceGrpc;
import io.tierlog.engine.v1.EvictedBlock;
import io.tierlog.engine.v1.EvictedRequest;
import io.tierlog.engine.v1.FinishRequest;
import io.tierlog.engine.v1.HealthReply;
import io.tierlog.engine.v1.HealthRequest;
import io.tierlog.engine.v1.LoadReply;
import io.tierlog.engine.v1.LoadRequest;
import io.tierlog.engine.v1.Notice;
import io.tierlog.engine.v1.Offer;
import io.tierlog.engine.v1.OfferReason;
import io.tierlog.engine.v1.OpenRequest;
import io.tierlog.engine.v1.Opened;
import io.tierlog.engine.v1.PrefilledRequest;
import io.tierlog.engine.v1.Ready;
import io.tierlog.engine.v1.RegisterBuffersReply;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.engine.v1.Released;
import io.tierlog.engine.v1.SealedRequest;
import io.tierlog.engine.v1.SubmitReply;
import io.tierlog.engine.v1.SubmitRequest;
import io.tierlog.engine.v1.Waiting;
import io.tierlog.ops.engine.api.AgentAddress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * An agent with an infinite host and no log, that misbehaves when told to. Real bytes go in and out of the engine's shared file, through plain file
 * reads and writes, so that it shares nothing with the engine's mapping. Every save takes place when the pages are released, as late as it may.
 */
final class FakeAgent extends EngineServiceGrpc.EngineServiceImplBase implements AutoCloseable {
    /** How submits are answered. */
    enum Answer {
        AT_ONCE,
        BY_NOTICE,
        NEVER_READY,
        REFUSED,
        HANGING
    }

    /** An agent that hangs has answered that many submits before, so that there is something to lose, and answers again after so many more. */
    private static final int HANGS_AFTER = 150;
    private static final int HANGS = 40;
    private static final int BLOCK_BYTES = ReplayTest.BLOCK_BYTES;

    private final String name;
    private Server server;
    volatile Answer answer = Answer.AT_ONCE;
    volatile Offer.Source source = Offer.Source.SOURCE_HOST;
    /** Pages of finished requests are released when at least that many requests wait for it. */
    volatile int releaseAfter = 1;
    volatile long blockBytes = BLOCK_BYTES;
    /** The n-th block loaded gets one flipped bit; the n-th load call finds the agent dead. 0 for none. */
    volatile int lieAtBlock;
    volatile int dieAtLoad;
    volatile int dieAtFinish;
    volatile boolean refuseFinish;
    volatile int loadAtMost = Integer.MAX_VALUE;
    /** How long a report of a moved block waits for the Finish of its request, which must not come first, in ms. */
    volatile long evictedMs;

    final AtomicInteger loadedBlocks = new AtomicInteger();
    final AtomicInteger loadCalls = new AtomicInteger();
    final AtomicInteger opened = new AtomicInteger();
    private final AtomicInteger hangs = new AtomicInteger();
    final List<String> wrongs = Collections.synchronizedList(new ArrayList<>());
    final ConcurrentLinkedQueue<FinishRequest> finished = new ConcurrentLinkedQueue<>();
    final ConcurrentLinkedQueue<SubmitRequest> submitted = new ConcurrentLinkedQueue<>();
    final ConcurrentLinkedQueue<EvictedRequest> evicted = new ConcurrentLinkedQueue<>();
    /** Page, generation and block of all blocks that the engine has reported or loads. */
    final Set<String> known = ConcurrentHashMap.newKeySet();
    private final CountDownLatch dead = new CountDownLatch(1);
    private final Map<String, byte[]> host = new ConcurrentHashMap<>();
    private final Map<String, Map<Integer, Sealed>> sealed = new ConcurrentHashMap<>();
    private final LinkedHashMap<String, FinishRequest> unreleased = new LinkedHashMap<>();
    private @Nullable ServerCallStreamObserver<Notice> notices;
    private @Nullable Path memory;

    /** A page the engine has promised not to touch, and what was in it then. */
    private record Sealed(String block, long generation, int hash) {}

    FakeAgent(String name) {
        this.name = name;
        this.server = listen();
    }

    private Server listen() {
        try {
            return InProcessServerBuilder.forName(name).addService(this).build().start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    AgentAddress address() {
        return new AgentAddress.Custom(name, () -> InProcessChannelBuilder.forName(name).build());
    }

    synchronized void die() {
        server.shutdownNow();
        dead.countDown();
    }

    /** Waits for its scheduled end. */
    void awaitDeath() throws InterruptedException {
        // Not synchronized: it is waited for while calls come in.
        assertTrue(dead.await(30, TimeUnit.SECONDS), "the agent was never asked to die");
        server.awaitTermination();
    }

    /** A new process of the agent: the host is empty, nothing is known of earlier requests. */
    synchronized void restart() {
        host.clear();
        sealed.clear();
        unreleased.clear();
        server = listen();
    }

    @Override
    public synchronized void open(OpenRequest request, StreamObserver<Notice> responses) {
        if (notices != null && !notices.isCancelled()) {
            responses.onError(Status.ALREADY_EXISTS.asRuntimeException());
            return;
        }
        notices = (ServerCallStreamObserver<Notice>) responses;
        notices.setOnCancelHandler(() -> {});
        notify(Notice.newBuilder()
                .setOpened(Opened.newBuilder().setSession("s" + opened.incrementAndGet()).setNode("a").setBlockBytes(blockBytes)));
    }

    private synchronized void notify(Notice.Builder notice) {
        if (notices != null && !notices.isCancelled()) {
            notices.onNext(notice.build());
        }
    }

    @Override
    public void registerBuffers(RegisterBuffersRequest request, StreamObserver<RegisterBuffersReply> response) {
        memory = Path.of(request.getSharedMemoryPath());
        answer(response, RegisterBuffersReply.newBuilder().setIncarnation(opened.get()).build());
    }

    @Override
    public void submit(SubmitRequest request, StreamObserver<SubmitReply> response) {
        submitted.add(request);
        for (BlockPage block : request.getDevicePagesList()) {
            keep(request.getRequest() + "/" + request.getAttempt(), request.getNamespace(), block, read(block.getPage()));
        }
        switch (answer) {
            case AT_ONCE -> answer(response, SubmitReply.newBuilder().setOffer(offer(request)).build());
            case BY_NOTICE -> {
                notify(Notice.newBuilder()
                        .setReady(Ready.newBuilder()
                                .setRequest(request.getRequest())
                                .setAttempt(request.getAttempt())
                                .setOffer(offer(request))));
                answer(response, SubmitReply.newBuilder().setWaiting(Waiting.getDefaultInstance()).build());
            }
            case NEVER_READY -> answer(response, SubmitReply.newBuilder().setWaiting(Waiting.getDefaultInstance()).build());
            case REFUSED -> response.onError(Status.INVALID_ARGUMENT.withDescription("not today").asRuntimeException());
            case HANGING -> {
                int number = hangs.incrementAndGet();
                if (number <= HANGS_AFTER || number > HANGS_AFTER + HANGS) {
                    answer(response, SubmitReply.newBuilder().setOffer(offer(request)).build());
                }
            }
        }
    }

    private Offer offer(SubmitRequest request) {
        Offer.Builder offer = Offer.newBuilder().setFirstIndex(request.getDeviceBlocks());
        int reusable = request.getReuseEligible() ? (request.getPromptTokens() - 1) / request.getBlockTokens() : 0;
        int i = request.getDeviceBlocks();
        while (i < reusable && host.containsKey(name(request.getNamespace(), request.getKeys(i)))) {
            offer.addSources(source);
            i++;
        }
        return offer.setReason(OfferReason.OFFER_REASON_NOTHING_BELOW).build();
    }

    private static String name(String namespace, ByteString key) {
        return namespace + Arrays.toString(key.toByteArray());
    }

    @Override
    public void load(LoadRequest request, StreamObserver<LoadReply> response) {
        if (loadCalls.incrementAndGet() == dieAtLoad) {
            die();
            return;
        }
        int loaded = 0;
        for (BlockPage block : request.getBlocksList()) {
            byte[] content = host.get(name(request.getNamespace(), block.getKey()));
            if (content == null || loaded == loadAtMost) {
                break;
            }
            know(request.getNamespace(), block);
            keep(request.getRequest() + "/" + request.getAttempt(), request.getNamespace(), block, content);
            write(block.getPage(), loadedBlocks.incrementAndGet() == lieAtBlock ? flipped(content) : content);
            loaded++;
        }
        answer(response, LoadReply.newBuilder().setLoaded(loaded).build());
    }

    private static byte[] flipped(byte[] content) {
        byte[] wrong = content.clone();
        wrong[BLOCK_BYTES - 3] ^= 0x10;
        return wrong;
    }

    private void know(String namespace, BlockPage block) {
        known.add(block.getPage() + "/" + block.getGeneration() + "/" + name(namespace, block.getKey()));
    }

    @Override
    public void prefilled(PrefilledRequest request, StreamObserver<Ack> response) {
        answer(response, Ack.getDefaultInstance());
    }

    @Override
    public void sealed(SealedRequest request, StreamObserver<Ack> response) {
        if (server.isShutdown()) {
            return;
        }
        String attempt = request.getRequest() + "/" + request.getAttempt();
        for (BlockPage block : request.getBlocksList()) {
            know(request.getNamespace(), block);
            keep(attempt, request.getNamespace(), block, read(block.getPage()));
        }
        answer(response, Ack.getDefaultInstance());
    }

    /** The page holds the block until it is released for the attempt. */
    private void keep(String attempt, String namespace, BlockPage block, byte[] content) {
        sealed.computeIfAbsent(attempt, a -> new ConcurrentHashMap<>())
                .put(block.getPage(), new Sealed(name(namespace, block.getKey()), block.getGeneration(), Arrays.hashCode(content)));
    }

    @Override
    public synchronized void finish(FinishRequest request, StreamObserver<Ack> response) {
        if (refuseFinish) {
            response.onError(Status.NOT_FOUND.withDescription("unknown").asRuntimeException());
            return;
        }
        if (server.isShutdown()) {
            return;
        }
        finished.add(request);
        if (finished.size() == dieAtFinish) {
            die();
            return;
        }
        unreleased.put(request.getRequest() + "/" + request.getAttempt(), request);
        answer(response, Ack.getDefaultInstance());
        while (unreleased.size() >= releaseAfter) {
            releaseOldest();
        }
    }

    /** Saves and releases all that is still held. */
    synchronized void releaseAll() {
        while (!unreleased.isEmpty()) {
            releaseOldest();
        }
    }

    /** Blocks it has. */
    int stored() {
        return host.size();
    }

    private void releaseOldest() {
        Map.Entry<String, FinishRequest> oldest = unreleased.pollFirstEntry();
        Map<Integer, Sealed> pages = Objects.requireNonNullElse(sealed.remove(oldest.getKey()), Map.of());
        pages.forEach((page, promise) -> {
            byte[] content = read(page);
            // An engine that leaves an agent that hangs takes its pages back, and a Finish of before may come late.
            if (Arrays.hashCode(content) != promise.hash && answer != Answer.HANGING) {
                wrongs.add("page " + page + " of " + oldest.getKey() + " changed before it was released");
            }
            host.put(promise.block, content);
        });
        notify(Notice.newBuilder()
                .setReleased(Released.newBuilder()
                        .setRequest(oldest.getValue().getRequest())
                        .setAttempt(oldest.getValue().getAttempt())
                        .addAllPages(pages.keySet())));
    }

    private boolean finishes(String attempt, long untilNanos) {
        while (finished.stream().noneMatch(f -> attempt.equals(f.getRequest() + "/" + f.getAttempt()))) {
            if (System.nanoTime() >= untilNanos) {
                return false;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
        return true;
    }

    @Override
    public void evicted(EvictedRequest request, StreamObserver<Ack> response) {
        long untilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(evictedMs);
        for (EvictedBlock block : request.getBlocksList()) {
            sealed.forEach((attempt, pages) -> {
                Sealed kept = pages.get(block.getPage());
                if (kept != null && kept.generation == block.getGeneration() && finishes(attempt, untilNanos)) {
                    wrongs.add("the Finish of " + attempt + " came before the report that page " + block.getPage() + " is free");
                }
            });
        }
        for (EvictedBlock block : request.getBlocksList()) {
            String what = block.getPage() + "/" + block.getGeneration() + "/" + name(request.getNamespace(), block.getKey());
            if (!known.remove(what)) {
                wrongs.add("evicted and not known: " + what);
            }
            sealed.values().forEach(pages -> pages.computeIfPresent(block.getPage(),
                    (page, kept) -> kept.generation == block.getGeneration() ? null : kept)); // its content has moved to another page
        }
        evicted.add(request);
        answer(response, Ack.getDefaultInstance());
    }

    @Override
    public void health(HealthRequest request, StreamObserver<HealthReply> response) {
        answer(response, HealthReply.newBuilder().setOnTheLog(true).build());
    }

    private static <T> void answer(StreamObserver<T> response, T value) {
        response.onNext(value);
        response.onCompleted();
    }

    private byte[] read(int page) {
        ByteBuffer content = ByteBuffer.allocate(BLOCK_BYTES);
        try (FileChannel channel = FileChannel.open(Objects.requireNonNull(memory), StandardOpenOption.READ)) {
            channel.read(content, (long) page * BLOCK_BYTES);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return content.array();
    }

    private void write(int page, byte[] content) {
        try (FileChannel channel = FileChannel.open(Objects.requireNonNull(memory), StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(content), (long) page * BLOCK_BYTES);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        server.shutdownNow();
    }
}
