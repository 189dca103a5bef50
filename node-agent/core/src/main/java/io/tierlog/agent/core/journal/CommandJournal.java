/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.journal;

import io.tierlog.schemas.Bytes;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Recent commands by number, and recent operations with their terminal events.
 *
 * <pre>
 *   operation:  (unknown) --started--> RUNNING --ended--> ENDED
 *                   |                                       ^
 *                   +-----------ended (refused)-------------+
 *                   +--neverStarted--> NEVER_STARTED
 * </pre>
 *
 * <p>Bounded twice: by commands and by blocks named in kept terminal events; the oldest ended operation is forgotten first, a running one
 * never. What is forgotten is answered as stale. For one thread.
 *
 * @param <A> the answer: a terminal event that can be repeated
 */
public final class CommandJournal<A> {
    /** What to do with a command that has come in. */
    public enum Verdict {
        /** New: run it. */
        RUN,
        /** Known, with the same content: answer again. */
        REPEAT,
        /** Not above the highest number and not remembered. */
        STALE,
        /** Known number, other content. */
        CONFLICT
    }

    /** State of an operation. */
    public enum State {
        UNKNOWN,
        RUNNING,
        ENDED,
        NEVER_STARTED
    }

    private record Seen(Bytes digest) {}

    private static final class Known<A> {
        State state = State.RUNNING;
        @Nullable A answer;
        int blocks;
    }

    private final int keptCommands;
    private final int keptBlocks;
    private final SequencedMap<Long, Seen> commands = new LinkedHashMap<>();
    private final SequencedMap<String, Known<A>> operations = new LinkedHashMap<>();
    private int running;
    private long blocks;
    private long highest;

    /** Keeps about {@code keptCommands} commands and as many ended operations, with at most {@code keptBlocks} blocks in all. */
    public CommandJournal(int keptCommands, int keptBlocks) {
        this.keptCommands = keptCommands;
        this.keptBlocks = keptBlocks;
    }

    /** Numbers up to {@code sequence} belong to an earlier incarnation of the node, as does all that is remembered; no operation may be running. */
    public void startAfter(long sequence) {
        if (running > 0) {
            throw new IllegalStateException(running + " operations of an earlier incarnation are running");
        }
        commands.clear();
        operations.clear();
        blocks = 0;
        highest = sequence;
    }

    /** The highest number that was run. */
    public long highest() {
        return highest;
    }

    /** Looks at a command by its number and content; one that is new is remembered. */
    public Verdict admit(long sequence, Bytes digest) {
        Seen seen = commands.get(sequence);
        if (seen != null) {
            return seen.digest().equals(digest) ? Verdict.REPEAT : Verdict.CONFLICT;
        }
        if (sequence <= highest) {
            return Verdict.STALE;
        }
        highest = sequence;
        commands.put(sequence, new Seen(digest));
        if (commands.size() > keptCommands) {
            commands.pollFirstEntry();
        }
        return Verdict.RUN;
    }

    /** State of the operation, as far as the journal remembers it. */
    public State state(String operation) {
        Known<A> known = operations.get(operation);
        return known == null ? State.UNKNOWN : known.state;
    }

    /** The terminal event of an operation that has ended. */
    public Optional<A> answer(String operation) {
        Known<A> known = operations.get(operation);
        return known == null ? Optional.empty() : Optional.ofNullable(known.answer);
    }

    /**
     * An operation begins.
     *
     * @throws IllegalStateException when the journal has it already
     */
    public void started(String operation) {
        if (operations.putIfAbsent(operation, new Known<>()) != null) {
            throw new IllegalStateException(operation + " begins twice");
        }
        running++;
    }

    /**
     * An operation ends with {@code answer}, which names that many blocks; also one that never began.
     *
     * @throws IllegalStateException when it has ended already
     */
    public void ended(String operation, A answer, int blocksNamed) {
        end(operation, State.ENDED, answer, blocksNamed);
    }

    /** The operation was cancelled before its command came; that command is stale when it comes. */
    public void neverStarted(String operation, A answer) {
        end(operation, State.NEVER_STARTED, answer, 0);
    }

    private void end(String operation, State state, A answer, int blocksNamed) {
        Known<A> known = operations.remove(operation);
        if (known == null) {
            known = new Known<>();
        } else if (known.state == State.RUNNING) {
            running--;
        } else {
            throw new IllegalStateException(operation + " ends twice");
        }
        known.state = state;
        known.answer = answer;
        known.blocks = blocksNamed;
        blocks += blocksNamed;
        operations.put(operation, known); // at the end: the oldest end is forgotten first
        forgetOldest();
    }

    private void forgetOldest() {
        var entries = operations.entrySet().iterator();
        while ((operations.size() - running > keptCommands || blocks > keptBlocks) && entries.hasNext()) {
            Known<A> oldest = entries.next().getValue();
            if (oldest.state != State.RUNNING && operations.size() - running > 1) {
                blocks -= oldest.blocks;
                entries.remove();
            }
        }
    }

    /** Number of operations remembered, running ones included. */
    public int size() {
        return operations.size();
    }
}
