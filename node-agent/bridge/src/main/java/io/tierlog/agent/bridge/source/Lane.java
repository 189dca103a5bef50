/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import io.tierlog.agent.bridge.decode.Decoded;
import io.tierlog.agent.bridge.log.NodeSession;
import io.tierlog.agent.bridge.view.BlockBook;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.agent.bridge.view.Frame;
import io.tierlog.agent.bridge.view.NamespaceRule;
import io.tierlog.agent.bridge.view.Publisher;
import io.tierlog.agent.bridge.view.PublisherOutput;
import io.tierlog.agent.bridge.view.View;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZContext;

/** A publisher behind a source: its state, its replays, the nodes that stand for its instances. Confined to the thread of the sockets. */
final class Lane implements PublisherOutput, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Lane.class);
    private static final int ANSWERS_AT_ONCE = 256;
    private static final String DEFAULT_MODEL = "default";

    private final SourceSpec spec;
    private final SourceParts parts;
    private final String topicKey;
    private final Optional<ReplayClient> replay;
    private final Publisher publisher;
    private final Map<String, NodeSession> sessions = new LinkedHashMap<>();
    private OptionalInt rank;
    // A publisher that does not count: the batch before the first is unknown.
    private long ownCount = 1;

    /**
     * A publisher without a batch so far.
     *
     * @param topicKey its topic, where several publishers share a socket; else empty
     */
    Lane(SourceSpec spec, SourceParts parts, ZContext context, String topicKey, OptionalInt rank) {
        this.spec = spec;
        this.parts = parts;
        this.topicKey = topicKey;
        this.rank = rank;
        this.replay = replayEndpoint().map(endpoint -> new ReplayClient(context, endpoint));
        this.publisher = new Publisher(parts.rules().following(replay.isPresent()), this::open, parts.counts(), this);
    }

    private Optional<String> replayEndpoint() {
        if (!spec.bind()) {
            return spec.replay();
        }
        String instance = InstanceName.of(topicKey).name();
        return spec.replay().filter(_ -> !instance.isEmpty())
                .map(address -> SourceSpec.moved(address.replace(SourceSpec.INSTANCE, instance), rank.orElse(0)));
    }

    /**
     * Whether a batch of that topic and rank is of this publisher. A rank that is named first belongs to the publisher that was known without one.
     */
    boolean takes(String topic, OptionalInt named) {
        if (!topicKey.equals(topic)) {
            return false;
        }
        if (named.isPresent() && rank.isEmpty() && sessions.isEmpty()) {
            rank = named;
        }
        return named.isEmpty() || named.equals(rank);
    }

    Publisher publisher() {
        return publisher;
    }

    void connected(long nowMs) {
        publisher.connected(nowMs);
    }

    void live(long nowMs, Frames.Message message, Decoded content) {
        OptionalLong seq = message.seq();
        publisher.live(nowMs, Frame.of(seq.isPresent() ? seq.getAsLong() : ownCount++, message.topic(), message.payload(), content));
    }

    /** Takes what has come of an answer; returns the number of frames. */
    int receive(long nowMs) {
        int taken = 0;
        while (replay.isPresent() && taken < ANSWERS_AT_ONCE) {
            Optional<ReplayClient.Answer> next = replay.get().receive();
            if (next.isEmpty()) {
                break;
            }
            taken++;
            ReplayClient.Answer answer = next.get();
            if (answer.end()) {
                publisher.replayEnded(nowMs);
            } else if (answer.seq() < 0) {
                parts.counts().add(BridgeCounter.FOREIGN_FRAMES, 1);
            } else {
                publisher.replayed(nowMs, Frame.of(answer.seq(), answer.topic(), answer.payload(), parts.decoded(spec.endpoint(), answer.payload())));
            }
        }
        return taken;
    }

    void tick(long nowMs) {
        publisher.tick(nowMs);
        flush(nowMs);
    }

    void flush(long nowMs) {
        sessions.values().forEach(session -> {
            if (publisher.last() >= 0) {
                session.start(nowMs);
            }
            session.flush();
        });
    }

    /** The engine is gone. */
    void gone(long nowMs) {
        publisher.gone(nowMs);
        sessions.values().forEach(NodeSession::stop);
        replay.ifPresent(ReplayClient::end);
    }

    private BlockBook open(String topic) {
        InstanceName named = InstanceName.of(topic);
        String model = !spec.model().isEmpty() ? spec.model() : named.model().isEmpty() ? DEFAULT_MODEL : named.model();
        NamespaceRule.Source source = new NamespaceRule.Source(model, spec.engine());
        BlockBook book = new BlockBook(parts.rules().books(spec.counting()), source, named.shared(), parts.counts());
        int number = rank.orElse(spec.rank());
        String node = InstanceName.node(instance(named), number);
        if (parts.sessions().isTaken(node)) {
            node = InstanceName.node(instance(named) + "-" + address(), number);
        }
        String name = node;
        Map<String, String> configuration = Map.of("events", spec.endpoint(), "model", model, "engine", spec.engine(), "topic", topic);
        Optional<NodeSession> session = parts.sessions().open(node, configuration, new NodeSession.Content() {
            @Override
            public View view() {
                return publisher.view(book);
            }

            @Override
            public void blocks(Consumer<BlockBook.Change> visit) {
                book.all(visit);
            }
        });
        session.ifPresentOrElse(each -> sessions.put(topic, each), () -> {
            parts.counts().add(BridgeCounter.OVER_LIMIT, 1);
            LOG.error("{}: another source speaks for node {} already, or there are too many nodes: give this one a name= of its own",
                    spec.endpoint(), name);
        });
        return book;
    }

    /** The first instance of a source has its configured name, and further ones add their own. */
    private String instance(InstanceName named) {
        if (!spec.name().isEmpty()) {
            return sessions.isEmpty() || named.name().isEmpty() ? spec.name() : spec.name() + "-" + named.name();
        }
        return named.name().isEmpty() ? address() : named.name();
    }

    private String address() {
        return spec.endpoint().replaceFirst("^[a-z]+://", "");
    }

    @Override
    public void askReplay(long from) {
        replay.ifPresent(each -> each.ask(from));
    }

    @Override
    public void endReplay() {
        replay.ifPresent(ReplayClient::end);
    }

    @Override
    public void changed(String topic, BlockBook.Change change) {
        NodeSession session = sessions.get(topic);
        if (session != null) {
            session.changed(change);
        }
    }

    @Override
    public void viewed(String topic, View view) {
        LOG.info("{} rank {} {}: {}", spec.endpoint(), rank.orElse(spec.rank()), view.unknown().isEmpty() ? "is known again" : "is not known whole",
                view.reason());
        NodeSession session = sessions.get(topic);
        if (session != null) {
            session.viewed(view);
        }
    }

    @Override
    public void close() {
        sessions.values().forEach(NodeSession::stop);
        replay.ifPresent(ReplayClient::close);
    }
}
