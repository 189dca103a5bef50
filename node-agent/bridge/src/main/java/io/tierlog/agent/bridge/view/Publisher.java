/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import io.tierlog.agent.bridge.decode.Decoded;
import io.tierlog.agent.bridge.decode.EngineEvent;
import java.util.ArrayDeque;
import java.util.function.Function;

/**
 * One publisher: an engine instance and its data-parallel rank, or a process that speaks for several instances in one count. Batches are applied in
 * the order of their numbers. What is missing is asked for; meanwhile what comes live waits, since a removal that is applied before the store that
 * it follows would bring the block back. What no replay can give makes the view unknown until the publisher restarts, or a time is over: the
 * events of that time may have stored and removed anything.
 *
 * <pre>
 *   FRESH --(batch 0, or an answer)--> FOLLOWING --(gap, silence)--> CATCHING_UP --(end of the answer)--> FOLLOWING
 *     ^ \--(batch n, replays)--> CATCHING_UP                              |
 *     +------------(a lower number, or another content: a new process)----+
 * </pre>
 *
 * Nothing on the wire names a process. The subscription and the answers come by two connections, so either may show a new process first: the
 * queue of the subscription may still have batches of the old one, or batches that an answer has brought before. Confined to one thread.
 */
public final class Publisher {
    private static final long NEVER = Long.MAX_VALUE;

    private final Rules rules;
    private final BridgeCounts counts;
    private final PublisherOutput output;
    private final Instances instances;
    private final Checksums checksums = new Checksums();
    private final ArrayDeque<Frame> waiting = new ArrayDeque<>();
    private Mode mode = Mode.FRESH;
    private String topic = "";
    private boolean isTopicKnown;
    /** Batches of answers without a topic were applied before a live one has named it. */
    private boolean isTopicGuessed;
    private String epoch = "";
    private long waitingBytes;
    private long last = -1;
    /** Of a publisher that names its process, that name and what it has lost; -1 of the others. */
    private long incarnation = -1;

    private long dropped;
    /** The highest number that came by the subscription, where nothing counts back. */
    private long newestLive = -1;
    /** An answer has shown a new process: what the subscription brings may be of the old one until a batch fits. */
    private boolean fitting;
    /** The connection was lost, and no answer has shown yet that the process is the same. */
    private boolean unconfirmed;
    /** No answer of this process was complete, nor has it been followed from its first batch on. */
    private boolean unfinished;
    private boolean hasAnswered;
    private long lastWhenAsked;
    private long askedFrom;
    private boolean answered;
    private boolean matched;
    private long newestAnswer;
    private int tries;
    private long deadlineMs = NEVER;
    private long arrivedMs;
    private long quietMs;

    private enum Mode {
        FRESH,
        FOLLOWING,
        CATCHING_UP
    }

    /**
     * How a publisher is followed.
     *
     * @param replays whether it can be asked for old batches
     * @param silenceMs time without a batch after which it is asked whether the last ones were lost
     * @param answerMs longest time without a batch of an answer
     * @param tries how often it is asked without a new batch before batches count as lost
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
        this.counts = counts;
        this.output = output;
        this.instances = new Instances(rules.instances(), rules.unknownMs(), opener, counts, output);
    }

    /** The view of an instance that has this book. */
    public View view(BlockBook book) {
        return instances.view(book);
    }

    /** Blocks of all its instances, count. */
    public long blocks() {
        return instances.blocks();
    }

    /** The number of the last batch that was applied; -1 before the first. */
    public long last() {
        return last;
    }

    /** Whether something is lost for good, or may not have come yet, and the view is not whole. */
    public boolean isUnknown() {
        return instances.isUnknown();
    }

    /** When a batch last arrived, or an answer. */
    public long arrivedMs() {
        return arrivedMs;
    }

    /**
     * The connection is there: what was published before it is asked for.
     *
     * @param again whether it was lost before: another process may be at its other end, which has nothing to publish yet
     */
    public void connected(long nowMs, boolean again) {
        arrivedMs = nowMs;
        quietMs = nowMs;
        unconfirmed |= again && last >= 0;
        if (!rules.replays()) {
            doubt(nowMs);
        } else if (again) {
            // A process that has overtaken the old one differs in older batches.
            ask(nowMs, checksums.oldest());
        } else if (mode != Mode.CATCHING_UP) {
            ask(nowMs);
        }
    }

    /**
     * Which process of a publisher a batch is of, where a number that rises names it.
     *
     * @param number of the process
     * @param dropped events that this process has lost before they got into a batch, count
     */
    public record Incarnation(long number, long dropped) {}

    /**
     * A batch of a publisher that names its process has come: it counts from 1, and neither its content nor a connection has to show what it is.
     * There are no replays. What a process had in its memory ends with it, what it had below stays.
     *
     * @return whether it was applied, and is neither a repeat nor of a process that has ended
     */
    public boolean numbered(long nowMs, Incarnation process, Frame frame) {
        if (process.number() < incarnation) {
            counts.add(BridgeCounter.STALE, 1);
            return false;
        }
        arrivedMs = nowMs;
        if (process.number() > incarnation) {
            counts.add(BridgeCounter.RESTARTS, incarnation < 0 ? 0 : 1);
            instances.restartMemory();
            incarnation = process.number();
            dropped = 0;
            last = 0;
        }
        if (frame.seq() <= last) {
            counts.add(BridgeCounter.REPEATS, 1);
            return false;
        }
        if (frame.seq() > last + 1) {
            lose(nowMs, last + 1, frame.seq() - 1);
        }
        if (process.dropped() > dropped) {
            counts.add(BridgeCounter.GAPS, 1);
            instances.lose(nowMs, (process.dropped() - dropped) + " events were lost before they got into a batch", -1, -1);
        }
        dropped = Math.max(dropped, process.dropped());
        last = frame.seq();
        apply(nowMs, frame);
        return true;
    }

    /** A batch of such a publisher cannot be read, its number neither. */
    public void unreadable(long nowMs, String reason) {
        lostWithoutNumber(nowMs, "a batch after " + last + " cannot be read: " + reason);
    }

    /** Batches of such a publisher may be lost, and none has come since that could show it. */
    public void lostWithoutNumber(long nowMs, String reason) {
        counts.add(BridgeCounter.GAPS, 1);
        instances.lose(nowMs, reason, -1, -1);
    }

    /** What was published before the first batch that comes is not known. */
    public void unknownPast(long nowMs) {
        instances.incomplete(nowMs, "what earlier processes have put below the host's memory is not known");
    }

    /** Blocks have left a pool that several publishers share, as another one reports. */
    public void removedElsewhere(long nowMs, EngineEvent.Removed removed) {
        instances.removedElsewhere(nowMs, removed);
    }

    /** A batch has come by the subscription. */
    public void live(long nowMs, Frame frame) {
        arrivedMs = nowMs;
        named(nowMs, frame.topic());
        if (fitting && mode == Mode.CATCHING_UP) {
            await(nowMs, frame);
            return;
        }
        if (fitting && !fits(frame)) {
            await(nowMs, frame);
            ask(nowMs);
            return;
        }
        fitting = false;
        if (isOfAnotherProcess(frame)) {
            restart(nowMs);
        }
        countFromOne(frame);
        boolean repeat = isRepeat(frame);
        if (repeat || frame.seq() > last) {
            quietMs = nowMs;
        }
        newestLive = Math.max(newestLive, frame.seq());
        if (repeat || frame.seq() <= last) {
            counts.add(BridgeCounter.REPEATS, 1);
        } else if (mode == Mode.CATCHING_UP) {
            await(nowMs, frame);
        } else if (frame.seq() == last + 1) {
            take(nowMs, frame);
        } else if (rules.replays()) {
            await(nowMs, frame);
            ask(nowMs);
        } else {
            lose(nowMs, last + 1, frame.seq() - 1);
            take(nowMs, frame);
        }
    }

    /** An answer may come before the first live batch. What was held under another topic then is asked for again under its own. */
    private void named(long nowMs, String name) {
        if (isTopicGuessed && !name.equals(topic)) {
            instances.close(topic);
            begin(nowMs);
        }
        topic = isTopicKnown ? topic : name;
        isTopicKnown = true;
        isTopicGuessed = false;
    }

    /** A batch has come by a replay. */
    public void replayed(long nowMs, Frame frame) {
        if (mode != Mode.CATCHING_UP) {
            return;
        }
        arrivedMs = nowMs;
        deadlineMs = nowMs + rules.answerMs();
        counts.add(BridgeCounter.REPLAYED, 1);
        hasAnswered = true;
        if (isOfAnotherEpoch(frame) || checksums.differs(frame)) {
            restartByAnswer(nowMs);
            return;
        }
        if (checksums.matches(frame)) {
            matched = true;
            unconfirmed = false;
        }
        boolean first = !answered;
        answered = true;
        newestAnswer = frame.seq();
        countFromOne(frame);
        if (frame.seq() <= last) {
            return;
        }
        doubt(nowMs);
        if (frame.seq() > last + 1) {
            // Only the first batch of an answer tells that the ring has nothing older; later ones are dropped where a queue is full.
            if (!first && asksForRest(nowMs, last)) {
                return;
            }
            lose(nowMs, last + 1, frame.seq() - 1);
        }
        isTopicGuessed |= !isTopicKnown && frame.topic().isEmpty();
        take(nowMs, frame);
    }

    /** The answer to a replay is complete. */
    public void replayEnded(long nowMs) {
        if (mode != Mode.CATCHING_UP) {
            return;
        }
        arrivedMs = nowMs;
        if (!answered && askedFrom > 0) {
            askAgain(nowMs, 0);
            return;
        }
        // A publisher has its last batch, unless it was dropped on the way or another process took its place.
        if (answered && newestAnswer < last) {
            if (asksForRest(nowMs, last)) {
                return;
            }
            if (!matched) {
                restartByAnswer(nowMs);
                return;
            }
        } else if (!answered && last >= 0 && hasAnswered) {
            restartByAnswer(nowMs);
            return;
        }
        doubt(nowMs);
        unfinished = false;
        instances.complete();
        drain(nowMs);
    }

    /** Time passes. */
    public void tick(long nowMs) {
        instances.tick(nowMs);
        if (mode == Mode.CATCHING_UP && nowMs >= deadlineMs) {
            if (!asksForRest(nowMs, askedFrom)) {
                endWithoutAnswer(nowMs);
            }
        } else if (mode != Mode.CATCHING_UP && rules.replays() && nowMs - quietMs >= rules.silenceMs()) {
            quietMs = nowMs;
            ask(nowMs);
        }
    }

    /**
     * A publisher never counts back: what does in the subscription, and is no repeat, is another process. A number that only an answer has reached
     * so far, and whose batch is no longer remembered, has waited in a queue.
     */
    private boolean isOfAnotherProcess(Frame frame) {
        return isOfAnotherEpoch(frame) || checksums.differs(frame) || (frame.seq() <= newestLive && !isRepeat(frame));
    }

    private boolean isOfAnotherEpoch(Frame frame) {
        return frame.content() instanceof Decoded.Batch batch && !batch.epoch().isEmpty() && !epoch.isEmpty() && !batch.epoch().equals(epoch);
    }

    private boolean isRepeat(Frame frame) {
        return checksums.matches(frame)
                || (!waiting.isEmpty() && frame.seq() <= waiting.getLast().seq()
                        && waiting.stream().anyMatch(each -> each.seq() == frame.seq() && each.crc32c() == frame.crc32c()));
    }

    private boolean fits(Frame frame) {
        return !isOfAnotherEpoch(frame) && (checksums.matches(frame) || frame.seq() == last + 1);
    }

    private void countFromOne(Frame frame) {
        if (last < 0 && frame.seq() == 1 && frame.content() instanceof Decoded.Batch batch && batch.countsFromOne()) {
            last = 0;
        }
    }

    private void await(long nowMs, Frame frame) {
        waiting.add(frame);
        waitingBytes += frame.size();
        if (waiting.size() > rules.waitingBatches() || waitingBytes > rules.waitingBytes()) {
            endWithoutAnswer(nowMs);
        }
    }

    private void ask(long nowMs) {
        // From the last one on: that it is the same tells that the process is.
        ask(nowMs, Math.max(0, last));
    }

    private void ask(long nowMs, long from) {
        mode = Mode.CATCHING_UP;
        tries = 1;
        matched = false;
        unfinished |= last < 0;
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

    /** Asks once more, unless that was done often enough without a new batch. */
    private boolean asksForRest(long nowMs, long from) {
        if (last > lastWhenAsked) {
            tries = 0;
            lastWhenAsked = last;
        }
        if (tries >= rules.tries()) {
            return false;
        }
        tries++;
        askAgain(nowMs, Math.max(last, from));
        return true;
    }

    private void endWithoutAnswer(long nowMs) {
        doubt(nowMs);
        boolean open = unfinished && last >= 0 && waiting.isEmpty();
        unfinished = false;
        lastWhenAsked = last;
        drain(nowMs);
        if (open) {
            instances.incomplete(nowMs, "the answer has ended at batch " + last + ", and later batches may be there");
        }
    }

    /** Applies what has waited; where batches are missing still, they are asked for as long as each answer brings some. */
    private void drain(long nowMs) {
        output.endReplay();
        deadlineMs = NEVER;
        boolean asksAgain = last > lastWhenAsked;
        boolean beyond = false;
        mode = Mode.FOLLOWING;
        while (!waiting.isEmpty()) {
            Frame next = waiting.peek();
            boolean fit = !fitting || fits(next);
            if (fit && next.seq() > last + 1 && asksAgain) {
                ask(nowMs);
                return;
            }
            waiting.remove();
            waitingBytes -= next.size();
            if (fit) {
                fitting = false;
                newestLive = Math.max(newestLive, next.seq());
                applyWaiting(nowMs, next);
            } else {
                beyond |= next.seq() > last;
                counts.add(BridgeCounter.REPEATS, 1);
            }
        }
        if (beyond && fitting && asksAgain) {
            // Of the old process, or published since the answer.
            ask(nowMs);
            return;
        }
        mode = last < 0 ? Mode.FRESH : Mode.FOLLOWING;
    }

    private void applyWaiting(long nowMs, Frame next) {
        if (next.seq() > last + 1) {
            lose(nowMs, last + 1, next.seq() - 1);
        }
        if (next.seq() > last) {
            take(nowMs, next);
        }
    }

    private void take(long nowMs, Frame frame) {
        last = frame.seq();
        mode = mode == Mode.FRESH ? Mode.FOLLOWING : mode;
        checksums.put(frame.seq(), frame.crc32c());
        topic = frame.topic().isEmpty() ? topic : frame.topic();
        apply(nowMs, frame);
    }

    private void apply(long nowMs, Frame frame) {
        switch (frame.content()) {
            case Decoded.Malformed bad -> lose(nowMs, frame.seq(), frame.seq(), "batch " + frame.seq() + " cannot be read: " + bad.reason());
            case Decoded.Batch batch -> {
                counts.add(BridgeCounter.BATCHES, 1);
                counts.add(BridgeCounter.UNKNOWN_EVENTS, batch.unknownEvents());
                counts.add(BridgeCounter.UNKNOWN_FIELDS, batch.unknownFields());
                epoch = batch.epoch().isEmpty() ? epoch : batch.epoch();
                instances.apply(nowMs, frame.seq(), topic, batch.events());
            }
        }
    }

    private void lose(long nowMs, long from, long to) {
        lose(nowMs, from, to, "batches " + from + " to " + to + " are lost");
    }

    private void lose(long nowMs, long from, long to, String reason) {
        counts.add(BridgeCounter.GAPS, 1);
        counts.add(BridgeCounter.LOST_BATCHES, to - from + 1);
        instances.lose(nowMs, reason, from, to);
    }

    /** Nothing has shown that the process at the other end is the one whose blocks these are. */
    private void doubt(long nowMs) {
        if (unconfirmed) {
            unconfirmed = false;
            counts.add(BridgeCounter.GAPS, 1);
            instances.lose(nowMs, "the connection was lost, and nothing tells whether the same process is there again", -1, -1);
        }
    }

    /** What waits is of the old process, or in the ring of the new one. */
    private void restartByAnswer(long nowMs) {
        restart(nowMs);
        fitting = true;
        isTopicKnown = false;
        ask(nowMs);
    }

    private void restart(long nowMs) {
        counts.add(BridgeCounter.RESTARTS, last < 0 ? 0 : 1);
        begin(nowMs);
    }

    private void begin(long nowMs) {
        output.endReplay();
        instances.restart();
        waiting.clear();
        waitingBytes = 0;
        checksums.clear();
        epoch = "";
        last = -1;
        newestLive = -1;
        unconfirmed = false;
        unfinished = false;
        deadlineMs = NEVER;
        arrivedMs = nowMs;
        quietMs = nowMs;
        mode = Mode.FRESH;
    }
}
