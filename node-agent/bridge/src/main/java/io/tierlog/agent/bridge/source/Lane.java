/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import io.tierlog.agent.bridge.decode.CacheBatch;
import io.tierlog.agent.bridge.decode.Decoded;
import io.tierlog.agent.bridge.log.NodeSession;
import io.tierlog.agent.bridge.view.BlockBook;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.agent.bridge.view.Frame;
import io.tierlog.agent.bridge.view.NamespaceRule;
import io.tierlog.agent.bridge.view.Publisher;
import io.tierlog.agent.bridge.view.PublisherOutput;
import io.tierlog.agent.bridge.view.View;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.zeromq.ZContext;

/** A publisher behind a source: its state, its replays, the nodes that stand for its instances. Confined to the thread of the sockets. */
final class Lane implements PublisherOutput, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Lane.class);
    private static final int ANSWERS_AT_ONCE = 256;
    private static final int MOST_NAMESPACES = 64;

    private final SourceSpec spec;
    private final SourceParts parts;
    private final String topicKey;
    private final Optional<ReplayClient> replay;
    private final Publisher publisher;
    private final Map<String, Instance> instances = new LinkedHashMap<>();
    private final List<Instance> withoutNode = new ArrayList<>();
    private OptionalInt rank;
    /** The publisher does not count its batches. */
    private boolean uncounted;
    /** Its nodes have ended since it was silent, and it is followed on: its next batch shows what was missed, if anything. */
    private boolean resting;
    // Of such a publisher: the batch before the first is unknown.
    private long ownCount = 1;

    /** An engine instance that the publisher speaks for. */
    private static final class Instance {
        private final InstanceName named;
        private final String name;
        private final BlockBook book;
        private Optional<NodeSession> session = Optional.empty();
        private Set<String> leftOut = Set.of();

        Instance(InstanceName named, String name, BlockBook book) {
            this.named = named;
            this.name = name;
            this.book = book;
        }
    }

    /**
     * A publisher without a batch so far.
     *
     * @param topicKey its topic, where several publishers share a socket; else empty
     * @param moved how much higher the port of its replays is than the source's
     */
    Lane(SourceSpec spec, SourceParts parts, ZContext context, String topicKey, OptionalInt rank, int moved) {
        this.spec = spec;
        this.parts = parts;
        this.topicKey = topicKey;
        this.rank = rank;
        this.replay = replayEndpoint(moved).map(endpoint -> new ReplayClient(context, endpoint));
        this.publisher = new Publisher(parts.rules().following(replay.isPresent()), this::open, parts.counts(), this);
    }

    private Optional<String> replayEndpoint(int moved) {
        String instance = InstanceName.of(topicKey).name();
        return spec.replay().filter(_ -> !spec.bind() || !instance.isEmpty())
                .flatMap(address -> SourceSpec.moved(spec.bind() ? address.replace(SourceSpec.INSTANCE, instance) : address, moved));
    }

    /** The rank that its batches name, else the source's. */
    int rank() {
        return rank.orElse(spec.rank());
    }

    /** Whether a batch of that topic and rank is of this publisher. */
    boolean takes(String topic, OptionalInt named) {
        return topicKey.equals(topic) && isOfRank(named);
    }

    /** The rank that is named first, live or in an answer, is the rank of a publisher that was known without one. */
    private boolean isOfRank(OptionalInt named) {
        if (named.isPresent() && rank.isEmpty()) {
            rank = named;
            if (named.getAsInt() != spec.rank()) {
                withoutNode.clear();
                instances.forEach((topic, each) -> {
                    each.session.ifPresent(NodeSession::stop);
                    register(topic, each);
                });
            }
        }
        return named.isEmpty() || named.equals(rank);
    }

    Publisher publisher() {
        return publisher;
    }

    /** Whether its batches have no numbers. */
    boolean isUncounted() {
        return uncounted;
    }

    void connected(long nowMs, boolean again) {
        publisher.connected(nowMs, again);
    }

    void live(long nowMs, Frames.Message message, Decoded content) {
        OptionalLong seq = message.seq();
        uncounted = seq.isEmpty();
        publisher.live(nowMs, Frame.of(seq.isPresent() ? seq.getAsLong() : ownCount++, message.topic(), message.payload(), content));
    }

    /** A batch of a publisher that names its process; false when it was left out. */
    boolean numbered(long nowMs, CacheBatch batch) {
        if (resting) {
            resting = false;
            withoutNode.clear();
            instances.forEach(this::register);
        }
        CacheBatch.Origin origin = batch.origin();
        return publisher.numbered(nowMs, new Publisher.Incarnation(origin.incarnation(), origin.dropped()),
                new Frame(origin.seq(), "", batch.to() - batch.from(), 0, batch.content()));
    }

    /** Ends the nodes of a silent publisher, and keeps what it has for its next batch. */
    void rest() {
        resting = true;
        instances.values().forEach(each -> each.session.ifPresent(NodeSession::stop));
    }

    boolean isResting() {
        return resting;
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
                answered(nowMs, answer, parts.decoded(spec.endpoint(), answer.payload()));
            }
        }
        return taken;
    }

    private void answered(long nowMs, ReplayClient.Answer answer, Decoded content) {
        if (isOfRank(content instanceof Decoded.Batch batch ? batch.rank() : OptionalInt.empty())) {
            publisher.replayed(nowMs, Frame.of(answer.seq(), answer.topic(), answer.payload(), content));
        } else {
            parts.counts().add(BridgeCounter.FOREIGN_FRAMES, 1);
        }
    }

    void tick(long nowMs) {
        publisher.tick(nowMs);
        flush(nowMs);
    }

    void flush(long nowMs) {
        if (resting) {
            return;
        }
        instances.forEach((topic, each) -> {
            if (!leftOut(each).equals(each.leftOut)) {
                viewed(topic, publisher.view(each.book));
            }
            each.session.ifPresent(session -> {
                if (publisher.last() >= 0) {
                    session.start(nowMs);
                }
                session.flush();
            });
        });
    }

    private BlockBook open(String topic) {
        InstanceName named = InstanceName.of(topic);
        String model = spec.model().isEmpty() ? named.model() : spec.model();
        NamespaceRule.Source source = new NamespaceRule.Source(model, spec.engine());
        BlockBook book = new BlockBook(parts.rules().books(spec.counting()), source, named.shared(), parts.counts());
        if (uncounted) {
            book.expiring();
        }
        Instance instance = new Instance(named, instance(named), book);
        register(topic, instance);
        instances.put(topic, instance);
        return book;
    }

    /** Makes the instance a node: under its name, or under a longer one where another publisher has that. */
    private void register(String topic, Instance instance) {
        String model = spec.model().isEmpty() ? instance.named.model() : spec.model();
        Map<String, String> configuration = Map.of("events", spec.endpoint(), "model", model.isEmpty() ? NamespaceRule.DEFAULT_MODEL : model,
                "engine", spec.engine(), "topic", topic);
        NodeSession.Content content = new NodeSession.Content() {
            @Override
            public View view() {
                return withLeftOut(instance, publisher.view(instance.book));
            }

            @Override
            public void blocks(Consumer<BlockBook.Change> visit) {
                instance.book.all(visit);
            }
        };
        String further = instance.name + "-" + address();
        for (String name : List.of(instance.name, further, further + "-" + instance.named.model())) {
            Optional<NodeSession> session = parts.sessions().open(InstanceName.node(name, rank()), configuration, content);
            if (session.isPresent()) {
                instance.session = session;
                return;
            }
        }
        instance.session = Optional.empty();
        withoutNode.add(instance);
        parts.counts().add(BridgeCounter.OVER_LIMIT, 1);
        LOG.error("{}: another source speaks for node {} already, or there are too many nodes: give this one a name= of its own",
                spec.endpoint(), InstanceName.node(instance.name, rank()));
    }

    /** Namespaces of what the instance's book left out, and of the instances for which there is no node. */
    private Set<String> leftOut(Instance instance) {
        Set<String> namespaces = new LinkedHashSet<>(instance.book.incomplete());
        withoutNode.forEach(each -> {
            namespaces.addAll(each.book.namespaces());
            namespaces.addAll(each.book.incomplete());
        });
        return namespaces;
    }

    private View withLeftOut(Instance instance, View view) {
        Set<String> unknown = new LinkedHashSet<>(view.unknown());
        if (!unknown.addAll(leftOut(instance))) {
            return view;
        }
        String reason = view.unknown().isEmpty() ? "blocks beyond a bound of the bridge are left out" : view.reason();
        return new View(unknown.stream().limit(MOST_NAMESPACES).toList(), reason, view.lostFrom(), view.lostTo());
    }

    /** The first instance of a source has its configured name, and further ones add their own. */
    private String instance(InstanceName named) {
        if (!spec.name().isEmpty()) {
            return instances.isEmpty() || named.name().isEmpty() ? spec.name() : spec.name() + "-" + named.name();
        }
        return named.name().isEmpty() ? address() : named.name();
    }

    private String address() {
        return spec.endpoint().replaceFirst("^[a-z]+://", "");
    }

    @Override
    public void askReplay(long from) {
        if (replay.isPresent() && !replay.get().ask(from)) {
            parts.counts().add(BridgeCounter.UNANSWERED, 1);
        }
    }

    @Override
    public void endReplay() {
        replay.ifPresent(ReplayClient::end);
    }

    @Override
    public void changed(String topic, BlockBook.Change change) {
        Instance instance = instances.get(topic);
        if (instance != null) {
            instance.session.ifPresent(session -> session.changed(change));
        }
    }

    @Override
    public void viewed(String topic, View view) {
        Instance instance = instances.get(topic);
        if (instance != null) {
            View all = withLeftOut(instance, view);
            LOG.info("{} rank {} {}: {}", spec.endpoint(), rank(), all.unknown().isEmpty() ? "is known again" : "is not known whole",
                    all.reason());
            instance.leftOut = leftOut(instance);
            instance.session.ifPresent(session -> session.viewed(all));
        }
    }

    @Override
    public void closed(String topic) {
        Instance instance = instances.remove(topic);
        if (instance != null) {
            instance.session.ifPresent(NodeSession::stop);
            withoutNode.remove(instance);
        }
    }

    @Override
    public void close() {
        instances.values().forEach(each -> each.session.ifPresent(NodeSession::stop));
        replay.ifPresent(ReplayClient::close);
    }
}
