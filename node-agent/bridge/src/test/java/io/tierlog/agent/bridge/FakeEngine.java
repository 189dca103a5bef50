/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * One rank of an engine over real sockets: requests walk a small tree of prompts, full pools evict, batches get lost, processes restart. It keeps
 * what it really holds.
 */
final class FakeEngine implements AutoCloseable {
    private static final int DEVICE_BLOCKS = 60;
    private static final int HOST_BLOCKS = 90;
    private static final int RING = 10_000;

    private final Settings settings;
    private final ZContext context = new ZContext();
    private final ConcurrentLinkedQueue<Command> commands = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean closing = new AtomicBoolean();
    private final Random random;
    private final Thread thread;
    /** Of each block on the device its copies, and the blocks on the host: the truth. */
    private final Map<Long, Integer> device = new LinkedHashMap<>();
    private final Set<Long> host = new LinkedHashSet<>();
    private final Set<Long> everStored = new LinkedHashSet<>();
    private long seq;
    private double time;

    /**
     * How it speaks.
     *
     * @param replayPort 0 for none
     * @param topicInReplay whether answers carry the topic
     * @param connects whether it connects to the bridge
     * @param lostIn a batch in so many does not reach the bridge; 0 for none
     */
    record Settings(Batches.Form form, int port, int replayPort, boolean topicInReplay, int rank, String topic, int lostIn, long seed,
            boolean connects) {}

    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Batch(long seq, String topic, byte[] payload) {}

    /** What its thread shall do: publish a batch, or begin again. */
    private record Command(Batch batch, boolean reaches, boolean restart, CountDownLatch done) {}

    FakeEngine(Settings settings) {
        this.settings = settings;
        this.random = new Random(settings.seed());
        CountDownLatch bound = new CountDownLatch(1);
        thread = Thread.ofPlatform().daemon().name("engine-" + settings.port()).start(() -> run(bound));
        await(bound);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void run(CountDownLatch bound) {
        ZMQ.Socket pub = context.createSocket(SocketType.PUB);
        pub.setHandshakeIvl(1_000);
        if (settings.connects()) {
            pub.connect("tcp://127.0.0.1:" + settings.port());
        } else {
            pub.bind("tcp://127.0.0.1:" + settings.port());
        }
        ZMQ.Socket router = context.createSocket(SocketType.ROUTER);
        if (settings.replayPort() > 0) {
            router.bind("tcp://127.0.0.1:" + settings.replayPort());
        }
        bound.countDown();
        ArrayDeque<Batch> ring = new ArrayDeque<>();
        ZMQ.Poller poller = context.createPoller(1);
        poller.register(router, ZMQ.Poller.POLLIN);
        while (!closing.get()) {
            for (Command command = commands.poll(); command != null; command = commands.poll()) {
                if (command.restart()) {
                    ring.clear();
                } else {
                    ring.add(command.batch());
                    if (ring.size() > RING) {
                        ring.remove();
                    }
                    if (command.reaches()) {
                        pub.sendMore(command.batch().topic());
                        pub.sendMore(number(command.batch().seq()));
                        pub.send(command.batch().payload());
                    }
                }
                command.done().countDown();
            }
            poller.poll(2);
            byte[] client = router.recv(ZMQ.DONTWAIT);
            if (client != null) {
                answer(router, client, ring);
            }
        }
        context.close();
    }

    private void answer(ZMQ.Socket router, byte[] client, ArrayDeque<Batch> ring) {
        router.recv();
        long from = ByteBuffer.wrap(router.recv()).getLong();
        for (Batch batch : ring) {
            if (batch.seq() >= from) {
                send(router, client, batch.topic(), number(batch.seq()), batch.payload());
            }
        }
        send(router, client, "", number(-1), new byte[0]);
    }

    private void send(ZMQ.Socket router, byte[] client, String topic, byte[] number, byte[] payload) {
        router.sendMore(client);
        router.sendMore("");
        if (settings.topicInReplay()) {
            router.sendMore(topic);
        }
        router.sendMore(number);
        router.send(payload);
    }

    private static byte[] number(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    /** Serves some requests: each stores what its prompt lacks, and evicts what does not fit. */
    void serve(int requests) {
        for (int i = 0; i < requests; i++) {
            List<Batches.Event> events = new ArrayList<>();
            request(events);
            boolean lost = settings.lostIn() > 0 && seq > 0 && random.nextInt(settings.lostIn()) == 0;
            publish(!lost, events.toArray(Batches.Event[]::new));
        }
    }

    private void request(List<Batches.Event> events) {
        int root = random.nextInt(12);
        Long parent = null;
        int depth = 1 + random.nextInt(8);
        for (int i = 0; i < depth; i++) {
            int branch = i < 3 ? 0 : random.nextInt(3);
            long hash = hash(parent == null ? settings.topic().hashCode() * 31L + root : parent, branch + 1);
            boolean twice = random.nextInt(40) == 0;
            if (!device.containsKey(hash) || twice) {
                events.add(Batches.stored("GPU", parent, hash));
                everStored.add(hash);
                // At the end of the order, as what was used last.
                int copies = device.getOrDefault(hash, 0) + 1;
                device.remove(hash);
                device.put(hash, copies);
            }
            if (random.nextInt(3) == 0 && host.add(hash)) {
                events.add(Batches.stored(settings.form() == Batches.Form.MAPS ? "CPU" : "CPU_PINNED", parent, hash));
            }
            parent = hash;
        }
        while (device.values().stream().mapToInt(Integer::intValue).sum() > DEVICE_BLOCKS) {
            long oldest = device.keySet().iterator().next();
            events.add(Batches.removed("GPU", oldest));
            int left = device.getOrDefault(oldest, 1) - 1;
            device.remove(oldest);
            if (left > 0) {
                device.put(oldest, left);
            }
        }
        while (host.size() > HOST_BLOCKS) {
            long oldest = host.iterator().next();
            host.remove(oldest);
            events.add(Batches.removed(settings.form() == Batches.Form.MAPS ? "CPU" : "CPU_PINNED", oldest));
        }
    }

    private static long hash(long parent, int branch) {
        long mixed = (parent ^ 0x9e3779b97f4a7c15L) * (branch * 2L + 0xbf58476d1ce4e5b9L);
        return mixed ^ (mixed >>> 29);
    }

    /** Publishes one batch. */
    void publish(boolean reaches, Batches.Event... events) {
        publishAs(settings.topic(), reaches, events);
    }

    /** Publishes one batch under that topic. */
    void publishAs(String topic, boolean reaches, Batches.Event... events) {
        CountDownLatch done = new CountDownLatch(1);
        commands.add(new Command(new Batch(seq, topic, Batches.batch(settings.form(), ++time, settings.rank(), events)), reaches, false, done));
        seq++;
        await(done);
    }

    /** The process ends and another one takes its place: nothing is left, and the count begins at 0. */
    void restart() {
        CountDownLatch done = new CountDownLatch(1);
        commands.add(new Command(new Batch(0, "", new byte[0]), false, true, done));
        await(done);
        seq = 0;
        device.clear();
        host.clear();
    }

    Set<Long> onDevice() {
        return device.keySet();
    }

    Set<Long> onHost() {
        return host;
    }

    /** All blocks that it ever had. */
    Set<Long> everStored() {
        return everStored;
    }

    @Override
    public void close() {
        closing.set(true);
        try {
            thread.join(5_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
