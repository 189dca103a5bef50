/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import io.tierlog.agent.bridge.decode.Decoded;
import io.tierlog.agent.bridge.view.BridgeCounter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZEvent;
import org.zeromq.ZMQ;

/**
 * One subscription: to a publisher, or at an address to which publishers connect. Confined to the thread of the sockets, but for what the library
 * reports of connections.
 */
public final class Source implements Followed, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Source.class);
    private static final int MESSAGES_AT_ONCE = 64;
    private static final int QUEUED_MESSAGES = 10_000;
    private static final int LARGEST_MESSAGE = 32 << 20;
    private static final int MOST_FRAMES = 8;
    private static final int MOST_LANES = 1_024;
    /** The library sometimes never begins the handshake of a connection that it has opened: that one is opened again. */
    static final int HANDSHAKE_MS = 2_000;
    private static final int HEARTBEAT_MS = 5_000;
    private static final int HEARTBEAT_TIMEOUT_MS = 15_000;

    private final SourceSpec spec;
    private final SourceParts parts;
    private final ZContext context;
    private final ZMQ.Socket socket;
    private final List<Lane> lanes = new ArrayList<>();
    private final AtomicBoolean connected = new AtomicBoolean();
    private final AtomicBoolean again = new AtomicBoolean();
    /** When the connection was lost, in nanoseconds of this JVM's clock; 0 while it is there, or was never. */
    private final AtomicLong lostNs = new AtomicLong();
    /** Publishers that do not count have to learn of the connection still. */
    private boolean newConnection;
    private boolean newConnectionIsAnother;

    /**
     * Connects or binds at once.
     *
     * @throws IllegalArgumentException when the address cannot be used now
     */
    public Source(SourceSpec spec, SourceParts parts, ZContext context) {
        this.spec = spec;
        this.parts = parts;
        this.context = context;
        socket = context.createSocket(SocketType.SUB);
        try {
            socket.setLinger(0);
            socket.setRcvHWM(QUEUED_MESSAGES);
            socket.setMaxMsgSize(LARGEST_MESSAGE);
            socket.setHandshakeIvl(HANDSHAKE_MS);
            socket.setHeartbeatIvl(HEARTBEAT_MS);
            socket.setHeartbeatTimeout(HEARTBEAT_TIMEOUT_MS);
            if (!spec.bind()) {
                socket.setEventHook(this::event, ZMQ.EVENT_DISCONNECTED | ZMQ.EVENT_HANDSHAKE_PROTOCOL | ZMQ.EVENT_CONNECTED);
            }
            socket.subscribe(spec.topic().getBytes(StandardCharsets.UTF_8));
            boolean done = spec.bind() ? socket.bind(spec.endpoint()) : socket.connect(spec.endpoint());
            if (!done) {
                throw new IllegalArgumentException("cannot use the address " + spec.endpoint());
            }
        } catch (RuntimeException e) {
            socket.close();
            throw new IllegalArgumentException("cannot " + (spec.bind() ? "bind to " : "connect to ") + spec.endpoint() + ": " + e.getMessage(), e);
        }
    }

    /** Runs on a thread of the library. */
    private void event(ZEvent event) {
        switch (event.getEvent()) {
            case DISCONNECTED -> lostNs.compareAndSet(0, System.nanoTime());
            case CONNECTED, HANDSHAKE_PROTOCOL, HANDSHAKE_SUCCEEDED -> {
                if (lostNs.getAndSet(0) != 0) {
                    again.set(true);
                }
                connected.set(true);
            }
            default -> {}
        }
    }

    public SourceSpec spec() {
        return spec;
    }

    /** The socket, to wait for. */
    public ZMQ.Socket socket() {
        return socket;
    }

    /** Takes some of what has come, so that no source keeps the others waiting; returns the number of messages. */
    public int receive(long nowMs) {
        // Before what came by it: the first batch of a connection may be the first of a process, and then nothing is lost.
        connections(nowMs);
        int taken = 0;
        while (taken < MESSAGES_AT_ONCE) {
            byte[] first = socket.recv(ZMQ.DONTWAIT);
            if (first == null) {
                break;
            }
            taken++;
            message(nowMs, rest(first));
        }
        if (newConnection && taken < MESSAGES_AT_ONCE) {
            // What waited in the queue may be of the old process, and without numbers nothing but its end shows that.
            lanes.stream().filter(Lane::isUncounted).forEach(lane -> lane.connected(nowMs, newConnectionIsAnother));
            newConnection = false;
            newConnectionIsAnother = false;
        }
        for (Lane lane : lanes) {
            taken += lane.receive(nowMs);
        }
        if (taken > 0) {
            lanes.forEach(lane -> lane.flush(nowMs));
        }
        return taken;
    }

    private List<byte[]> rest(byte[] first) {
        List<byte[]> frames = new ArrayList<>();
        frames.add(first);
        while (socket.hasReceiveMore()) {
            byte[] next = socket.recv();
            if (frames.size() < MOST_FRAMES) {
                frames.add(next);
            }
        }
        return frames;
    }

    private void message(long nowMs, List<byte[]> frames) {
        Optional<Frames.Message> message = Frames.message(frames);
        if (message.isEmpty()) {
            parts.counts().add(BridgeCounter.FOREIGN_FRAMES, 1);
            return;
        }
        Decoded content = parts.decoded(spec.endpoint(), message.get().payload());
        lane(message.get(), content).ifPresentOrElse(lane -> lane.live(nowMs, message.get(), content),
                () -> parts.counts().add(BridgeCounter.OVER_LIMIT, 1));
    }

    private Optional<Lane> lane(Frames.Message message, Decoded content) {
        String topic = spec.bind() ? message.topic() : "";
        if (content instanceof Decoded.Malformed && lanes.size() > 1) {
            // Whose it is, its number may tell.
            return lanes.stream().filter(lane -> message.seq().isPresent() && message.seq().getAsLong() == lane.publisher().last() + 1).findFirst();
        }
        OptionalInt rank = content instanceof Decoded.Batch batch ? batch.rank() : OptionalInt.empty();
        for (Lane lane : lanes) {
            if (lane.takes(topic, rank)) {
                return Optional.of(lane);
            }
        }
        if (lanes.size() >= MOST_LANES) {
            return Optional.empty();
        }
        Lane lane = new Lane(spec, parts, context, topic, rank, replayMovedBy(rank));
        lanes.add(lane);
        return Optional.of(lane);
    }

    /** The address of replays is that of rank 0 where publishers connect, else that of the first rank. */
    private int replayMovedBy(OptionalInt rank) {
        if (spec.bind()) {
            return rank.orElse(0);
        }
        return lanes.isEmpty() ? 0 : rank.orElse(spec.rank()) - lanes.getFirst().rank();
    }

    private void gone(List<Lane> some) {
        some.forEach(Lane::close);
        lanes.removeAll(some);
    }

    private void connections(long nowMs) {
        if (connected.getAndSet(false)) {
            LOG.info("connected to {}", spec.endpoint());
            if (lanes.isEmpty() && spec.replay().isPresent()) {
                lanes.add(new Lane(spec, parts, context, "", OptionalInt.empty(), 0));
            }
            boolean wasLost = again.getAndSet(false);
            lanes.stream().filter(lane -> !lane.isUncounted()).forEach(lane -> lane.connected(nowMs, wasLost));
            newConnection = true;
            newConnectionIsAnother |= wasLost;
        }
    }

    /** Time passes. */
    public void tick(long nowMs) {
        connections(nowMs);
        long lost = lostNs.get();
        boolean gone = lost != 0 && System.nanoTime() - lost >= parts.rules().engineMs() * 1_000_000;
        if (gone && lostNs.compareAndSet(lost, 0)) {
            LOG.warn("{} has been gone for {} s: what it had counts no longer", spec.endpoint(), parts.rules().engineMs() / 1_000);
            gone(List.copyOf(lanes));
        }
        if (spec.bind()) {
            List<Lane> silent = lanes.stream().filter(lane -> nowMs - lane.publisher().arrivedMs() >= parts.rules().idleMs()).toList();
            if (!silent.isEmpty()) {
                LOG.warn("{} publishers at {} have been silent for {} s: what they had counts no longer", silent.size(), spec.endpoint(),
                        parts.rules().idleMs() / 1_000);
                gone(silent);
            }
        }
        lanes.forEach(lane -> lane.tick(nowMs));
    }

    @Override
    public int publishers() {
        return (int) lanes.stream().filter(lane -> lane.publisher().last() >= 0).count();
    }

    @Override
    public int unknown() {
        return (int) lanes.stream().filter(lane -> lane.publisher().isUnknown()).count();
    }

    @Override
    public long blocks() {
        return lanes.stream().mapToLong(lane -> lane.publisher().blocks()).sum();
    }

    @Override
    public void close() {
        lanes.forEach(Lane::close);
        socket.close();
    }
}
