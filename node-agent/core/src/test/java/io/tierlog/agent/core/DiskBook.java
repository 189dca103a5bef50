/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.agent.core.disk.DiskState;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.DropDone;
import io.tierlog.schemas.event.Event;
import io.tierlog.schemas.event.OperationCancelled;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The disk in one namespace as the log has it, slow and obvious; the agent's index must agree after every step. */
final class DiskBook {
    private final World world;
    private final Map<Bytes, PagedBlock> serving = new LinkedHashMap<>();
    private final Set<String> ended = new HashSet<>();
    private long remaining = -1;

    DiskBook(World world) {
        this.world = world;
    }

    /** The epoch of the agent has ended: it reports what the disk holds in the next one. */
    void forget() {
        serving.clear();
        remaining = -1;
    }

    boolean holds(Block block) {
        return serving.containsKey(block.key());
    }

    List<PagedBlock> deepestFirst() {
        return serving.values().stream()
                .sorted(Comparator.comparing((PagedBlock one) -> one.block().index(), Comparator.reverseOrder()))
                .toList();
    }

    void on(Event event) {
        switch (event) {
            case BlocksRecovered e when e.tier() == Tier.DISK -> recovered(e);
            case CopyDone e when ended.add(e.operation()) -> e.blocks().forEach(this::copied); // a repeat has the state of the first answer
            case DropDone e when e.tier() == Tier.DISK && ended.add(e.operation()) -> e.blocks().forEach(this::dropped);
            case OperationCancelled e when ended.add(e.operation()) -> e.blocks().forEach(result -> {
                copied(result);
                dropped(result);
            });
            case BlocksEvicted e when e.tier() == Tier.DISK -> {
                assertEquals(RemovalReason.CHECKSUM, e.reason(), "nothing makes way on the disk");
                e.blocks().forEach(block -> assertEquals(block, serving.remove(block.block().key())));
            }
            default -> { }
        }
    }

    private void recovered(BlocksRecovered e) {
        assertTrue(remaining == -1 || e.remainingBlocks() == remaining - e.blocks().size(), () -> "after " + remaining + ": " + e);
        remaining = e.remainingBlocks();
        for (PagedBlock block : e.blocks()) {
            assertNull(serving.put(block.block().key(), block), () -> "recovered twice: " + block);
        }
    }

    /** Of the results of other operations none has a generation and no page. */
    private void copied(BlockResult result) {
        boolean there = result.status() == BlockStatus.ARRIVED || result.status() == BlockStatus.ALREADY_THERE;
        if (there && result.page() == -1 && result.generation() > 0) {
            assertTrue(remaining <= 0, "before everything recovered is reported");
            PagedBlock copy = new PagedBlock(result.block(), -1, result.generation(), result.crc32c());
            PagedBlock before = serving.put(result.block().key(), copy);
            assertTrue(before == null || before.equals(copy), () -> before + " became " + copy);
        }
    }

    private void dropped(BlockResult result) {
        PagedBlock there = serving.get(result.block().key());
        if (result.status() == BlockStatus.GONE && there != null && there.generation() == result.generation()) {
            serving.remove(result.block().key());
            assertFalse(
                    serving.values().stream().anyMatch(one -> one.block().parent().equals(result.block().key())),
                    () -> "I10: a block that extends " + result.block() + " serves");
        }
    }

    /** The index serves what the log has, no more and no less; a leaving placement may still be on the log. */
    void check() {
        List<DiskPlacement> copies = world.core.disk().all();
        Map<Bytes, PagedBlock> here = copies.stream()
                .filter(copy -> copy.state() == DiskState.SERVING)
                .collect(Collectors.toMap(copy -> copy.block().key(), DiskPlacement::paged));
        here.forEach((key, copy) -> assertEquals(copy, serving.get(key), "I8: it serves and the log does not have it"));
        Set<Bytes> leaving = copies.stream().filter(copy -> copy.state() == DiskState.LEAVING).map(copy -> copy.block().key())
                .collect(Collectors.toSet());
        serving.forEach((key, copy) -> assertTrue(
                here.containsKey(key) || leaving.contains(key), () -> "the log believes in a copy that is not there: " + copy + "\n" + history(key)));
    }

    /** What the log has seen of the block. */
    private String history(Bytes key) {
        return world.seen.events.stream().map(Event::toString).filter(text -> text.contains("key=" + key)).collect(Collectors.joining("\n"));
    }
}
