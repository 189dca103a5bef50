/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.engine.AgreedLayouts;
import io.tierlog.agent.app.engine.EngineAddress;
import io.tierlog.agent.app.engine.EngineApiHealth;
import io.tierlog.agent.app.engine.EngineApiLimits;
import io.tierlog.agent.app.engine.EngineServer;
import io.tierlog.agent.app.engine.Layouts;
import io.tierlog.agent.app.loop.AgentLoop;
import io.tierlog.agent.app.memory.Checksums;
import io.tierlog.agent.app.memory.CopyGate;
import io.tierlog.agent.app.memory.DeviceStreams;
import io.tierlog.agent.app.memory.EmulatedDevice;
import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.app.store.MemoryObjects;
import io.tierlog.agent.app.store.ObjectName;
import io.tierlog.agent.app.store.SharedStore;
import io.tierlog.agent.app.store.StoreWorkers;
import io.tierlog.agent.app.trace.RequestTraces;
import io.tierlog.agent.core.AgentCore;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.Registration;
import io.tierlog.agent.core.api.AgentLimits;
import io.tierlog.agent.core.api.AgentStatus;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.core.port.EventSink;
import io.tierlog.agent.core.port.Ports;
import io.tierlog.engine.v1.FinishRequest;
import io.tierlog.engine.v1.Offer;
import io.tierlog.engine.v1.RegisterBuffersRequest;
import io.tierlog.engine.v1.SubmitRequest;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Layout;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierUsage;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CommandHeader;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.PrefetchDone;
import io.tierlog.tls.Tls;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A core behind a real engine API, with a device and a store in memory, and a test in the place of the log and the controller.
 * Blocks of 1,000 bytes and 2 tokens, 16 device pages, 16 host pages.
 */
final class EngineWorld implements AutoCloseable {
    static final int BLOCK = 1_000;
    static final int PAGES = 16;
    static final int HOST_PAGES = 16;

    final List<Event> events = new CopyOnWriteArrayList<>();
    final SharedStore store = new MemoryObjects().store();
    final HostPool host = HostPool.allocate(HOST_PAGES, BLOCK);
    final DeviceMemory device;
    final List<Layout> layouts = Layouts.opaque(BLOCK, 2);
    final EngineServer server;
    final Path file;
    private final List<TestEngine> opened = new ArrayList<>();
    private final DeviceStreams streams;
    private final StoreWorkers workers;
    private final AgentLoop loop;
    private final AgentCore core;
    private final RequestTraces traces;
    private volatile AgentStatus status;
    private volatile @Nullable Throwable failure;
    private int commands;

    EngineWorld(Path directory, EngineApiLimits limits, DeviceMemory device) throws IOException, DeviceFault {
        this(directory, limits, device, new RequestTraces());
    }

    private EngineWorld(Path directory, EngineApiLimits limits, DeviceMemory device, RequestTraces traces) throws IOException, DeviceFault {
        this.device = device;
        this.traces = traces;
        file = Files.write(directory.resolve("device"), new byte[PAGES * BLOCK]);
        loop = new AgentLoop("engine-world", 100, 100, () -> System.nanoTime() / 1_000_000, e -> failure = e);
        streams = DeviceStreams.start("engine-world", device, host, DeviceStreams.Limits.DEFAULTS, loop::post);
        workers = new StoreWorkers("engine-world", store, host, StoreWorkers.Limits.DEFAULTS, loop::post);
        EngineServer.Wiring wiring =
                new EngineServer.Wiring("a", new AgreedLayouts(layouts, 1), loop::offer, loop::post, new DevicePools(device, streams), this::health);
        server = new EngineServer(EngineAddress.tcp(0), Tls.NONE, wiring, limits);
        core = new AgentCore(
                AgentLimits.defaults().withPrefetchWaitMs(20_000), // the test is the controller, and may be slow
                new Registration("a", layouts, Layouts.layoutDigest(layouts), BLOCK, HOST_PAGES, 0),
                traces.around(new Ports(streams, workers, new NoDisk(), server.replies(), new Sink())));
        status = core.status();
        loop.start(new Driver());
        server.start();
    }

    /** On the log, with the default limits. */
    static EngineWorld registered(Path directory) throws Exception {
        return registered(directory, EngineApiLimits.DEFAULTS);
    }

    static EngineWorld registered(Path directory, EngineApiLimits limits) throws Exception {
        return registered(directory, limits, new EmulatedDevice("engine", EmulatedDevice.Limits.DEFAULTS));
    }

    static EngineWorld registered(Path directory, EngineApiLimits limits, DeviceMemory device) throws Exception {
        return registered(new EngineWorld(directory, limits, device));
    }

    /** On the log, with traces. */
    static EngineWorld traced(Path directory, RequestTraces traces) throws Exception {
        return registered(new EngineWorld(directory, EngineApiLimits.DEFAULTS, new EmulatedDevice("engine", EmulatedDevice.Limits.DEFAULTS), traces));
    }

    private static EngineWorld registered(EngineWorld world) throws Exception {
        world.loop.put(new AgentInput.Registered(1, 0, ScriptedController.POLICY, null));
        Eventually.await("registration", () -> world.status.onTheLog());
        return world;
    }

    private final class Sink implements EventSink {
        @Override
        public void append(String aggregate, String cause, Function<Envelope, Event> withEnvelope) {
            @Nullable String why = cause.isEmpty() ? null : cause;
            events.add(withEnvelope.apply(new Envelope(aggregate, "agent/a/p", 1, events.size() + 1, 0, 0, why, null, null)));
        }

        @Override
        public boolean congested() {
            return false;
        }
    }

    private final class Driver implements AgentLoop.Machine {
        @Override
        public void on(AgentInput input, long nowMs) {
            traces.before(input);
            core.on(input, nowMs);
            core.check();
        }

        @Override
        public long nextDeadlineMs() {
            return core.nextDeadlineMs();
        }

        @Override
        public void rested() {
            status = core.status();
        }
    }

    private EngineApiHealth health() {
        AgentStatus now = status;
        int free = Math.toIntExact(use().freeBlocks());
        return new EngineApiHealth(now.onTheLog(), now.incarnation(), free, 0, now.waitingRequests(), now.activeOperations());
    }

    // --- looking

    AgentStatus status() {
        return status;
    }

    TierUsage use() {
        return status.usage().getFirst();
    }

    /** Free host pages, pins on the host, pins on the device, operations. */
    record Held(long free, long hostPins, long devicePins, int operations) {}

    Held held() {
        AgentStatus now = status;
        TierUsage use = now.usage().getFirst();
        return new Held(use.freeBlocks(), use.pinCount(), now.devicePins(), now.activeOperations());
    }

    /** Awaits that as much is free and pinned as {@code before}. */
    void assertHeld(Held before) {
        try {
            Eventually.await("held again: " + before, () -> held().equals(before));
        } finally {
            assertEquals(before, held());
            assertEquals(null, failure);
        }
    }

    <E extends Event> E await(Class<E> type) {
        Eventually.await("a " + type.getSimpleName(), () -> events.stream().anyMatch(type::isInstance));
        return type.cast(events.stream().filter(type::isInstance).findFirst().orElseThrow());
    }

    /** Before every copy of the emulated device. */
    CopyGate gate(Direction direction) {
        return ((EmulatedDevice) device).gate(direction);
    }

    byte[] devicePage(int page) throws IOException {
        return Arrays.copyOfRange(Files.readAllBytes(file), page * BLOCK, (page + 1) * BLOCK);
    }

    static byte[] content(int index) {
        byte[] content = new byte[BLOCK];
        new Random(index).nextBytes(content);
        return content;
    }

    void assertOnDevice(int index, int page) throws IOException {
        assertArrayEquals(content(index), devicePage(page), "block " + index + " in page " + page);
    }

    // --- the engine

    TestEngine engine() {
        return engine(server.port());
    }

    TestEngine engine(int port) {
        TestEngine engine = new TestEngine(port);
        opened.add(engine);
        return engine;
    }

    RegisterBuffersRequest.Builder buffers(String session) {
        return RegisterBuffersRequest.newBuilder()
                .setSession(session)
                .setSharedMemoryPath(file.toString())
                .setPages(PAGES)
                .setBlockBytes(BLOCK)
                .setLayoutDigest(TestEngine.bytes(Layouts.layoutDigest(layouts)));
    }

    /** Opens a session and registers the device file. */
    String attach(TestEngine engine) {
        String session = engine.open("gpu0");
        engine.calls().registerBuffers(buffers(session).build());
        return session;
    }

    /** The first blocks of the prompt serve on the host, and nothing is pinned. */
    void warm(TestEngine engine, String session, int blocks) {
        fetch(engine, session, blocks);
        engine.calls().finish(FinishRequest.newBuilder().setSession(session).setRequest("warm").setAttempt(1)
                .setOutcome(FinishRequest.Outcome.OUTCOME_COMPLETED).build());
        assertHeld(new Held(HOST_PAGES - blocks, 0, 0, 0));
    }

    /** The store has the first blocks of the prompt. */
    void store(int blocks) {
        for (int i = 0; i < blocks; i++) {
            byte[] bytes = content(i);
            ObjectName name = new ObjectName(ObjectName.digest(AgentAppTest.NAMESPACE), ScriptedController.key(i));
            store.write(name, ByteBuffer.wrap(bytes), Checksums.crc32c(bytes, 0, bytes.length));
        }
    }

    private void fetch(TestEngine engine, String session, int blocks) {
        store(blocks);
        SubmitRequest request = EngineMessages.submit(session, "warm", blocks);
        assertTrue(engine.calls().submit(request).hasWaiting());
        prefetch(ScriptedController.envelope("a", 1), "warm", blocks);
        await(PrefetchDone.class);
        assertEquals(blocks, engine.notice().getReady().getOffer().getSourcesCount());
    }

    /** Commands a fetch of the first blocks of the prompt from the store, as the operation "fetch". */
    void prefetch(Envelope envelope, String request, int blocks) {
        command(new PrefetchBlocks(
                envelope, header(), "fetch", "lease-fetch", 10_000, request, 1, AgentAppTest.NAMESPACE,
                ScriptedController.key(0), IntStream.range(0, blocks).mapToObj(ScriptedController::block).toList(),
                Collections.nCopies(blocks, Tier.STORE), List.of(), null));
    }

    /** Submits a request whose prompt is on the host already. */
    Offer offered(TestEngine engine, SubmitRequest request) {
        return engine.calls().submit(request).getOffer();
    }

    // --- the controller

    CommandHeader header() {
        commands++;
        return new CommandHeader("c" + commands, commands);
    }

    void command(Command command) {
        loop.post(new AgentInput.CommandReceived(command));
    }

    @Override
    public void close() throws IOException, DeviceFault {
        if (device instanceof EmulatedDevice) {
            gate(Direction.LOAD).resume();
            gate(Direction.SAVE).resume();
        }
        opened.forEach(TestEngine::close);
        server.close();
        streams.close();
        workers.close();
        loop.close();
        device.close();
        host.close();
    }
}
