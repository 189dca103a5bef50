/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import io.tierlog.agent.bridge.decode.BatchDecoder;
import io.tierlog.agent.bridge.decode.EngineEvent;
import io.tierlog.agent.bridge.decode.Media;
import io.tierlog.schemas.Tier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** A publisher's ring of old batches, and what its follower says of it. Answers come when {@link #answer} is called. */
final class FakeRing implements PublisherOutput {
    static final Publisher.Rules RULES = new Publisher.Rules(true, 5_000, 2_000, 3, 600_000, 1_000, 1 << 20, 8);

    final Publisher publisher;
    final BridgeCounts counts = new BridgeCounts();
    final Set<String> present = new TreeSet<>();
    final List<String> views = new ArrayList<>();
    private final int size;
    private final ArrayDeque<Frame> ring = new ArrayDeque<>();
    /** Numbers that answers leave out, once for each time that they are named, as full queues do. */
    final List<Long> dropped = new ArrayList<>();
    /** The blocks with their instance before each. */
    final Set<String> placed = new TreeSet<>();
    /** The last view of each instance. */
    final Map<String, View> viewed = new TreeMap<>();
    final List<String> closed = new ArrayList<>();
    String topic = "";
    boolean topicInAnswers = true;
    private long asked = -1;
    long nowMs = 1_000;

    FakeRing(Publisher.Rules rules, int size) {
        this(rules, size, true);
    }

    FakeRing(Publisher.Rules rules, int size, boolean counting) {
        this(rules, size, counting, "m");
    }

    /** @param model of the source; empty for the one that events name */
    FakeRing(Publisher.Rules rules, int size, boolean counting, String model) {
        this.size = size;
        BlockBook.Rules books = new BlockBook.Rules(NamespaceRule.MODEL, counting, 10_000, 600_000);
        publisher = new Publisher(rules, _ -> new BlockBook(books, new NamespaceRule.Source(model, "vllm"), false, counts), counts, this);
    }

    /** The process ends, and its ring with it. */
    void restart() {
        ring.clear();
    }

    /** Publishes a batch; {@code reaches} is false when no subscriber gets it, or later: {@link #deliver}. */
    Frame publish(long seq, byte[] payload, boolean reaches) {
        Frame frame = Frame.of(seq, topic, payload, BatchDecoder.decode(payload));
        ring.add(frame);
        if (ring.size() > size) {
            ring.remove();
        }
        if (reaches) {
            deliver(frame);
        }
        return frame;
    }

    /** The subscription brings a batch. */
    void deliver(Frame frame) {
        publisher.live(nowMs, frame);
    }

    /** Answers what is asked, and what that leads to. */
    void answer() {
        while (asked >= 0) {
            answerWithoutEnd();
            if (asked < 0) {
                publisher.replayEnded(nowMs);
            }
        }
    }

    /** Answers what is asked, but for the end. */
    void answerWithoutEnd() {
        long from = asked;
        asked = -1;
        for (Frame frame : List.copyOf(ring)) {
            if (frame.seq() >= from && asked < 0 && !dropped.remove(Long.valueOf(frame.seq()))) {
                publisher.replayed(nowMs, topicInAnswers ? frame : new Frame(frame.seq(), "", frame.size(), frame.crc32c(), frame.content()));
            }
        }
    }

    boolean isAsked() {
        return asked >= 0;
    }

    void pass(long ms) {
        nowMs += ms;
        publisher.tick(nowMs);
    }

    @Override
    public void askReplay(long from) {
        asked = from;
    }

    @Override
    public void endReplay() {
        asked = -1;
    }

    @Override
    public void changed(String instance, BlockBook.Change change) {
        String block = HexFormat.of().formatHex(change.block().block().key().unshared()) + " " + change.tier()
                + (change.namespace().equals("m") ? "" : " " + change.namespace());
        if (change.stored()) {
            placed.add(instance + " " + block);
            present.add(block);
        } else if (!placed.remove(instance + " " + block)) {
            throw new IllegalStateException("never stored: " + block + " of " + instance);
        } else if (!present.remove(block)) {
            throw new IllegalStateException("never stored: " + block);
        }
    }

    @Override
    public void closed(String instance) {
        viewed.remove(instance);
        closed.add(instance);
    }

    @Override
    public void viewed(String instance, View view) {
        viewed.put(instance, view);
        views.add(view.unknown().isEmpty() ? "whole" : "unknown " + view.lostFrom() + ".." + view.lostTo());
    }

    static Tier tier(String medium) {
        return Media.tier(new EngineEvent.Place(medium, "", 0), false);
    }
}
