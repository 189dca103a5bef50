/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import io.tierlog.agent.bridge.decode.Decoded;
import io.tierlog.agent.bridge.decode.EngineEvent;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * One publisher: an engine instance and its data-parallel rank, or a process that speaks for several instances in one count. Batches are applied in
 * the order of their numbers. What is missing is asked for; meanwhile what comes live waits, since a removal that is applied before the store that
 * it follows would bring the block back. What no replay can give makes the view unknown until the publisher restarts, clears all it has, or a
 * time is over: the events of that time may have stored and removed anything.
 *
 * <pre>
 *   FRESH --(batch 0, or an answer)--> FOLLOWING --(gap, silence)--> CATCHING_UP --(end of the answer)--> FOLLOWING
 *     ^ \--(batch n, replays)--> CATCHING_UP                              |
 *     +------------(a lower number with another content: a new process)---+
 * </pre>
 *
 * Confined to one thread.
 */
public final class Publisher {
    private static final int KEPT_CHECKSUMS = 64;
    private static final long NEVER = Long.MAX_VALUE;

    private final Rules rules;
    private final Function<String, BlockBook> opener;
    private final BridgeCounts counts;
    private final PublisherOutput output;
    private final Map<String, BlockBook> books = new LinkedHashMap<>();
    private final Map<Long, Integer> checksums = new LinkedHashMap<>();
    private final ArrayDeque<Frame> waiting = new ArrayDeque<>();
    private Mode mode = Mode.FRESH;
    private String topic = "";
    private String epoch = "";
    private long waitingBytes;
    private long last = -1;
    private long lastWhenAsked;
    private long askedFrom;
    private boolean answered;
    private long newestAnswer;
    private int tries;
    private long deadlineMs = NEVER;
    private long arrivedMs;
    private Optional<Lost> lost = Optional.empty();

    private enum Mode {
        FRESH,
        FOLLOWING,
        CATCHING_UP
    }

    /** What is unknown, and until when. */
    private record Lost(String reason, long from, long to, long untilMs) {}

    /**
     * How a publisher is followed.
     *
     * @param replays whether it can be asked for old batches
     * @param silenceMs time without a batch after which it is asked whether the last ones were lost
     * @param answerMs longest time without a batch of an answer
     * @param tries how often it is asked before batches count as lost
     * @param unknownMs time after which a view with lost batches counts as whole again
     * @param waitingBatches most live batches that wait for a replay
     * @param waitingBytes most bytes of them
     * @param instances most instances that one publisher speaks for
     */
    public record Rules(boolean replays, long silenceMs, long answerMs, int tries, long unknownMs, int waitingBatches, long waitingBytes,
            int instances) {}

    /**
     * A publisher without a batch so far.
     *
     * @param opener opens the book of an instance
     */
    public Publisher(Rules rules, Function<String, BlockBook> opener, BridgeCounts counts, PublisherOutput output) {
        this.rules = rules;
        this.opener = opener;
        this.counts = counts;
        this.output = output;
    }

    /** The books of its instances. */
    public void books(BiConsumer<String, BlockBook> visit) {
        books.forEach(visit);
    }

    /** The view of an instance that has this book. */
    public View view(BlockBook book) {
        return lost.map(each -> new View(book.namespaces(), each.reason(), each.from(), each.to())).orElseGet(() -> new View(List.of(), "", -1, -1));
    }

    /** Blocks of all its instances, count. */
    public long blocks() {
        return books.values().stream().mapToLong(BlockBook::size).sum();
    }

    /** The number of the last batch that was applied; -1 before the first. */
    public long last() {
        return last;
    }

    /** Whether batches are lost for good and the view is not whole again. */
    public boolean isUnknown() {
        return lost.isPresent();
    }

    /** When a batch last arrived. */
    public long arrivedMs() {
        return arrivedMs;
    }

    /** The connection is there: what was published before it is asked for. */
    public void connected(long nowMs) {
        arrivedMs = nowMs;
        if (rules.replays() && mode != Mode.CATCHING_UP) {
            ask(nowMs);
        }
    }

    /** A batch has come by the subscription. */
    public void live(long nowMs, Frame frame) {
        arrivedMs = nowMs;
        if (isOfAnotherProcess(frame)) {
            restart(nowMs);
        }
        if (last < 0 && frame.seq() == 1 && frame.content() instanceof Decoded.Batch batch && batch.countsFromOne()) {
            last = 0;
        }
        if (mode == Mode.CATCHING_UP) {
            if (isRepeat(frame)) {
                counts.add(BridgeCounter.REPEATS, 1);
            } else {
                await(nowMs, frame);
            }
        } else if (frame.seq() == last + 1) {
            take(nowMs, frame);
        } else if (frame.seq() <= last) {
            counts.add(BridgeCounter.REPEATS, 1);
        } else if (rules.replays()) {
            await(nowMs, frame);
            ask(nowMs);
        } else {
            lose(nowMs, last + 1, frame.seq() - 1);
            take(nowMs, frame);
        }
    }

    /** A batch has come by a replay. */
    public void replayed(long nowMs, Frame frame) {
        if (mode != Mode.CATCHING_UP) {
            return;
        }
        deadlineMs = nowMs + rules.answerMs();
        counts.add(BridgeCounter.REPLAYED, 1);
        if (isAnswerOfAnotherProcess(frame)) {
            // What waits is of the old process, or in the ring of the new one.
            restart(nowMs);
            ask(nowMs);
            return;
        }
        answered = true;
        newestAnswer = frame.seq();
        if (frame.seq() > last + 1) {
            lose(nowMs, last + 1, frame.seq() - 1);
        }
        if (frame.seq() > last) {
            take(nowMs, frame);
        }
    }

    /** The answer to a replay is complete. */
    public void replayEnded(long nowMs) {
        if (mode != Mode.CATCHING_UP) {
            return;
        }
        // A publisher has its last batch, unless another process took its place.
        if (answered && newestAnswer < last) {
            restart(nowMs);
            ask(nowMs);
            return;
        }
        if (!answered && last >= 0 && askedFrom > 0) {
            ask(nowMs, 0);
            return;
        }
        drain(nowMs);
    }

    /** Time passes. */
    public void tick(long nowMs) {
        lost.filter(each -> nowMs >= each.untilMs()).ifPresent(_ -> whole("no batch of that time can matter any more"));
        books.forEach((instance, book) -> book.expire(nowMs, change -> changed(instance, change)));
        if (mode == Mode.CATCHING_UP && nowMs >= deadlineMs) {
            if (tries < rules.tries()) {
                tries++;
                askAgain(nowMs, askedFrom);
            } else {
                lastWhenAsked = last;
                drain(nowMs);
            }
        } else if (mode != Mode.CATCHING_UP && rules.replays() && nowMs - arrivedMs >= rules.silenceMs()) {
            arrivedMs = nowMs;
            ask(nowMs);
        }
    }

    /** The engine is gone, and with it all it had. */
    public void gone(long nowMs) {
        restart(nowMs);
    }

    /** A publisher never counts back: what does, and is no repeat, is another process. */
    private boolean isOfAnotherProcess(Frame frame) {
        long newest = waiting.isEmpty() ? last : waiting.getLast().seq();
        return isOfAnotherEpoch(frame) || (frame.seq() <= newest && !isRepeat(frame));
    }

    /** An answer may go back further than the checksums do. */
    private boolean isAnswerOfAnotherProcess(Frame frame) {
        Integer known = checksums.get(frame.seq());
        return isOfAnotherEpoch(frame) || (known != null && known != frame.crc32c());
    }

    private boolean isOfAnotherEpoch(Frame frame) {
        return frame.content() instanceof Decoded.Batch batch && !batch.epoch().isEmpty() && !epoch.isEmpty() && !batch.epoch().equals(epoch);
    }

    private boolean isRepeat(Frame frame) {
        Integer known = checksums.get(frame.seq());
        return (known != null && known == frame.crc32c())
                || waiting.stream().anyMatch(each -> each.seq() == frame.seq() && each.crc32c() == frame.crc32c());
    }

    private void await(long nowMs, Frame frame) {
        waiting.add(frame);
        waitingBytes += frame.size();
        if (waiting.size() > rules.waitingBatches() || waitingBytes > rules.waitingBytes()) {
            lastWhenAsked = last;
            drain(nowMs);
        }
    }

    private void ask(long nowMs) {
        // From the last one on: that it is the same tells that the process is.
        ask(nowMs, Math.max(0, last));
    }

    private void ask(long nowMs, long from) {
        mode = Mode.CATCHING_UP;
        tries = 1;
        lastWhenAsked = last;
        askAgain(nowMs, from);
    }

    private void askAgain(long nowMs, long from) {
        answered = false;
        askedFrom = from;
        deadlineMs = nowMs + rules.answerMs();
        counts.add(BridgeCounter.REPLAYS, 1);
        output.askReplay(from);
    }

    /** Applies what has waited; where batches are missing still, they are asked for as long as each answer brings some. */
    private void drain(long nowMs) {
        output.endReplay();
        deadlineMs = NEVER;
        boolean asksAgain = last > lastWhenAsked;
        mode = Mode.FOLLOWING;
        while (!waiting.isEmpty()) {
            Frame next = waiting.peek();
            if (next.seq() > last + 1 && asksAgain) {
                ask(nowMs);
                return;
            }
            waiting.remove();
            waitingBytes -= next.size();
            if (next.seq() > last + 1) {
                lose(nowMs, last + 1, next.seq() - 1);
            }
            if (next.seq() > last) {
                take(nowMs, next);
            }
        }
        mode = last < 0 ? Mode.FRESH : Mode.FOLLOWING;
    }

    private void take(long nowMs, Frame frame) {
        last = frame.seq();
        mode = mode == Mode.FRESH ? Mode.FOLLOWING : mode;
        checksums.put(frame.seq(), frame.crc32c());
        checksums.remove(frame.seq() - KEPT_CHECKSUMS);
        topic = frame.topic().isEmpty() ? topic : frame.topic();
        switch (frame.content()) {
            case Decoded.Malformed bad -> lose(nowMs, frame.seq(), frame.seq(), "batch " + frame.seq() + " cannot be read: " + bad.reason());
            case Decoded.Batch batch -> apply(nowMs, frame.seq(), batch);
        }
    }

    private void apply(long nowMs, long seq, Decoded.Batch batch) {
        counts.add(BridgeCounter.BATCHES, 1);
        counts.add(BridgeCounter.UNKNOWN_EVENTS, batch.unknownEvents());
        counts.add(BridgeCounter.UNKNOWN_FIELDS, batch.unknownFields());
        epoch = batch.epoch().isEmpty() ? epoch : batch.epoch();
        BlockBook book = books.get(topic);
        if (book == null) {
            if (books.size() >= rules.instances()) {
                counts.add(BridgeCounter.OVER_LIMIT, 1);
                return;
            }
            book = opener.apply(topic);
            books.put(topic, book);
        }
        int namespaces = book.namespaces().size();
        for (EngineEvent event : batch.events()) {
            boolean hadLowerTiers = book.hadLowerTiers();
            book.apply(nowMs, seq, event, change -> changed(topic, change));
            if (event instanceof EngineEvent.Cleared cleared && cleared.medium().isEmpty()) {
                cleared(nowMs, hadLowerTiers);
            }
        }
        if (lost.isPresent() && book.namespaces().size() > namespaces) {
            output.viewed(topic, view(book));
        }
    }

    /** The device is empty. Whether the tiers below it are, is not told. */
    private void cleared(long nowMs, boolean hadLowerTiers) {
        if (hadLowerTiers) {
            unknown(nowMs, "the device was cleared, and whether the tiers below it were is not told", -1, -1);
        } else if (books.size() == 1) {
            whole("the engine has cleared all it had");
        }
    }

    private void lose(long nowMs, long from, long to) {
        lose(nowMs, from, to, "batches " + from + " to " + to + " are lost");
    }

    private void lose(long nowMs, long from, long to, String reason) {
        counts.add(BridgeCounter.GAPS, 1);
        counts.add(BridgeCounter.LOST_BATCHES, to - from + 1);
        unknown(nowMs, reason, from, to);
        clear();
    }

    private void unknown(long nowMs, String reason, long from, long to) {
        lost = Optional.of(new Lost(reason, from, to, nowMs + rules.unknownMs()));
        books.forEach((instance, book) -> output.viewed(instance, view(book)));
    }

    private void whole(String reason) {
        if (lost.isPresent()) {
            lost = Optional.empty();
            books.keySet().forEach(each -> output.viewed(each, new View(List.of(), reason, -1, -1)));
        }
    }

    private void clear() {
        books.forEach((instance, book) -> book.clear(null, change -> changed(instance, change)));
    }

    private void restart(long nowMs) {
        counts.add(BridgeCounter.RESTARTS, last < 0 ? 0 : 1);
        output.endReplay();
        clear();
        whole("the publisher has begun to count again");
        waiting.clear();
        waitingBytes = 0;
        checksums.clear();
        epoch = "";
        last = -1;
        deadlineMs = NEVER;
        arrivedMs = nowMs;
        mode = Mode.FRESH;
    }

    private void changed(String instance, BlockBook.Change change) {
        counts.add(change.stored() ? BridgeCounter.STORED : BridgeCounter.REMOVED, 1);
        output.changed(instance, change);
    }
}
