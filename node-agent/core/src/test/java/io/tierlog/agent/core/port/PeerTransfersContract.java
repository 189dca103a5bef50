/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.PeerUnitEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.PeerTransfers.PeerHolder;
import io.tierlog.agent.core.port.PeerTransfers.PeerPage;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What every reader of other nodes must do: each unit ends once, with a result for each block in their order; what has arrived is what was leased, to
 * the byte and by its checksum; and after the end no byte moves. One that faults may fail blocks, with one of the port's reasons.
 */
public abstract class PeerTransfersContract {
    /** Size of a block. */
    protected static final int BLOCK = 5_000;
    /** Pages of the node that reads. */
    protected static final int PAGES = 12;
    private static final Set<OperationReason> REASONS =
            EnumSet.of(OperationReason.NOT_SERVING, OperationReason.CHECKSUM, OperationReason.IO, OperationReason.QUEUE_FULL);
    private static final long LONG_S = 20;

    private final BlockingQueue<AgentInput> told = new LinkedBlockingQueue<>();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final Map<Bytes, byte[]> shared = new LinkedHashMap<>();

    @SuppressWarnings("NullAway.Init") // JUnit calls open() first.
    private PeerTransfers transfers;

    /** A reader of a node that leases {@code shared} as lease g; results of units go to {@code told}. */
    protected abstract PeerTransfers transfers(Map<Bytes, byte[]> shared, BlockingQueue<AgentInput> told) throws Exception;

    /** Address of the node that is read. */
    protected abstract String address();

    /** An address without a peer API. */
    protected abstract String unreachable();

    /** What is in a page of the node that reads. */
    protected abstract byte[] page(int number);

    /** Whether it may fail what it could read. */
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
        for (int i = 0; i < PAGES; i++) {
            byte[] bytes = new byte[BLOCK];
            new Random(i).nextBytes(bytes);
            shared.put(key(i), bytes);
        }
        transfers = transfers(shared, told);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable part : opened.reversed()) {
            part.close();
        }
    }

    private static Bytes key(int number) {
        return Bytes.wrapUnshared(ByteBuffer.allocate(8).putLong(number).array());
    }

    /** Blocks from..to-1 go to the pages of the same numbers, from the last on. */
    private static List<PeerPage> pages(int from, int to) {
        List<PeerPage> pages = new ArrayList<>();
        for (int i = from; i < to; i++) {
            pages.add(new PeerPage(key(i), i));
        }
        Collections.reverse(pages);
        return pages;
    }

    private PeerHolder holder(String address, String grant) {
        return new PeerHolder("a", address, grant);
    }

    private PeerUnitEnded ended() throws InterruptedException {
        @Nullable AgentInput input = told.poll(LONG_S, TimeUnit.SECONDS);
        if (input == null) {
            throw new AssertionError("no unit has ended within " + LONG_S + " s");
        }
        return (PeerUnitEnded) input;
    }

    private void check(PeerUnitEnded unit, List<PeerPage> pages) {
        assertEquals(pages.size(), unit.results().size());
        for (int i = 0; i < pages.size(); i++) {
            UnitResult result = unit.results().get(i);
            if (result.status() == BlockStatus.ARRIVED) {
                byte[] bytes = page(pages.get(i).hostPage());
                assertArrayEquals(shared.get(pages.get(i).key()), bytes);
                assertEquals(PeerTable.crc32c(bytes), result.crc32c());
            } else {
                assertEquals(BlockStatus.FAILED, result.status());
                assertTrue(REASONS.contains(result.reason()), () -> "an unexpected reason: " + result);
            }
        }
    }

    @Test
    void leasedBlocksArriveInTheirPages() throws Exception {
        List<PeerPage> pages = pages(0, 3);
        transfers.read(7, holder(address(), "g"), "m", pages);
        PeerUnitEnded unit = ended();
        assertEquals(7, unit.unit());
        check(unit, pages);
        assertTrue(faulty() || unit.results().stream().allMatch(result -> result.status() == BlockStatus.ARRIVED), unit::toString);
    }

    @Test
    void blocksThatAreNotLeasedFail() throws Exception {
        transfers.read(1, holder(address(), "another"), "m", pages(0, 2));
        assertFailed(OperationReason.NOT_SERVING, ended());
        transfers.read(2, holder(address(), "g"), "m", List.of(new PeerPage(key(0), 0), new PeerPage(key(99), 1)));
        assertFailed(OperationReason.NOT_SERVING, ended());
    }

    @Test
    void withoutAPeerApiNothingArrives() throws Exception {
        transfers.read(1, holder(unreachable(), "g"), "m", pages(0, 2));
        assertFailed(OperationReason.IO, ended());
    }

    private void assertFailed(OperationReason why, PeerUnitEnded unit) {
        assertTrue(unit.results().stream().allMatch(result -> result.status() == BlockStatus.FAILED), unit::toString);
        assertTrue(faulty() || unit.results().stream().allMatch(result -> result.reason() == why), unit::toString);
        assertEquals(2, unit.results().size());
    }

    /** Four units of three blocks, side by side. */
    @Test
    void eachUnitEndsOnceAndNothingMovesAfterwards() throws Exception {
        Map<Long, List<PeerPage>> open = new LinkedHashMap<>();
        for (int i = 0; i < 4; i++) {
            List<PeerPage> pages = pages(i * 3, i * 3 + 3);
            open.put((long) i, pages);
            transfers.read(i, holder(address(), "g"), "m", pages);
        }
        while (!open.isEmpty()) {
            PeerUnitEnded unit = ended();
            check(unit, Objects.requireNonNull(open.remove(unit.unit()), () -> "unit " + unit.unit() + " ends twice"));
        }
        List<byte[]> after = new ArrayList<>();
        for (int i = 0; i < PAGES; i++) {
            after.add(page(i).clone());
        }
        assertNull(told.poll(100, TimeUnit.MILLISECONDS));
        for (int i = 0; i < PAGES; i++) {
            assertArrayEquals(after.get(i), page(i));
        }
    }
}
