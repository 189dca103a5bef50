/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.PeersFound;
import io.tierlog.agent.core.port.PeerFinder.Holder;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What every finder must do: each question is answered once, also when no directory can be reached; each answer is another node that has a run of the
 * blocks, each at its own position, from the first on. One that faults may know of less.
 *
 * <p>Of namespace m node c has blocks 0 to 4 on its host; d has 0 and 1 on its host and 0 to 3 on its disk; e has 0 to 4 on its host and no peer
 * API. Node a looks, and has all.
 */
public abstract class PeerFinderContract {
    /** Who asks. */
    protected static final String SELF = "a";
    private static final long LONG_S = 20;

    private final BlockingQueue<AgentInput> told = new LinkedBlockingQueue<>();
    private final List<AutoCloseable> opened = new ArrayList<>();

    /** What there is to find. */
    protected static final List<PeerTable.Copy> COPIES = List.of(
            new PeerTable.Copy("c", Tier.HOST, 5), new PeerTable.Copy("d", Tier.HOST, 2), new PeerTable.Copy("d", Tier.DISK, 4),
            new PeerTable.Copy("e", Tier.HOST, 5), new PeerTable.Copy(SELF, Tier.HOST, 5), new PeerTable.Copy("f", Tier.DEVICE, 5));

    @SuppressWarnings("NullAway.Init") // JUnit calls open() first.
    private PeerFinder finder;

    /** A finder that has {@link #COPIES}, and answers to {@code told}. */
    protected abstract PeerFinder finder(BlockingQueue<AgentInput> told) throws Exception;

    /** Whether it may know of less than there is. */
    protected boolean faulty() {
        return false;
    }

    /** Closes it after the test. */
    protected final <T extends AutoCloseable> T own(T part) {
        opened.add(part);
        return part;
    }

    @BeforeEach
    void open() throws Exception {
        finder = finder(told);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable part : opened.reversed()) {
            part.close();
        }
    }

    /** The key of a block. */
    protected static Bytes key(int number) {
        return Bytes.wrapUnshared(ByteBuffer.allocate(16).putLong(8, number).array());
    }

    private static List<Bytes> keys(int from, int to) {
        return IntStream.range(from, to).mapToObj(PeerFinderContract::key).toList();
    }

    private List<Holder> answer(long unit) throws InterruptedException {
        PeersFound found = next();
        assertEquals(unit, found.unit());
        return found.holders();
    }

    private PeersFound next() throws InterruptedException {
        @Nullable AgentInput input = told.poll(LONG_S, TimeUnit.SECONDS);
        if (input == null) {
            throw new AssertionError("no answer within " + LONG_S + " s");
        }
        return (PeersFound) input;
    }

    private void assertFound(List<Holder> right, List<Holder> found) {
        if (faulty()) {
            assertTrue(right.containsAll(found), () -> found + " are not among " + right);
        } else {
            assertEquals(right, found.stream().sorted(Comparator.comparing(Holder::node)).toList());
        }
    }

    @Test
    void otherNodesAreNamedWithTheirRunAndTier() throws Exception {
        finder.find(1, "m", 0, keys(0, 7));
        assertFound(List.of(new Holder("c", "c:7000", Tier.HOST, 5), new Holder("d", "d:7000", Tier.DISK, 4)), answer(1));
        finder.find(2, "m", 0, keys(0, 2));
        assertFound(List.of(new Holder("c", "c:7000", Tier.HOST, 2), new Holder("d", "d:7000", Tier.HOST, 2)), answer(2));
    }

    /** From block 3 on: the blocks before do not count, and no holder begins with the fourth block. */
    @Test
    void aBlockCountsAtItsOwnPosition() throws Exception {
        finder.find(1, "m", 3, keys(3, 7));
        assertFound(List.of(new Holder("c", "c:7000", Tier.HOST, 2), new Holder("d", "d:7000", Tier.DISK, 1)), answer(1));
        finder.find(2, "m", 0, keys(3, 7));
        assertEquals(List.of(), answer(2));
    }

    @Test
    void noNodeHasAMissingBlock() throws Exception {
        finder.find(1, "other", 0, keys(0, 5));
        assertEquals(List.of(), answer(1));
        finder.find(2, "m", 0, keys(90, 95));
        assertEquals(List.of(), answer(2));
    }

    /** Keys that no directory knows are asked about in vain, and the answer comes all the same. */
    @Test
    void keysOfSeveralLengthsAreNobodys() throws Exception {
        finder.find(1, "m", 0, List.of(key(0), Bytes.ofHex("0011223344556677")));
        List<Holder> found = answer(1);
        assertTrue(found.stream().allMatch(holder -> holder.blocks() <= 1), found::toString);
    }

    @Test
    void eachQuestionIsAnsweredOnce() throws Exception {
        List<Long> open = new ArrayList<>();
        for (long unit = 1; unit <= 50; unit++) {
            finder.find(unit, "m", 0, keys(0, 5));
            open.add(unit);
        }
        while (!open.isEmpty()) {
            PeersFound found = next();
            assertTrue(open.remove(found.unit()), () -> found.unit() + " is answered a second time");
        }
        assertNull(told.poll(50, TimeUnit.MILLISECONDS));
    }
}
