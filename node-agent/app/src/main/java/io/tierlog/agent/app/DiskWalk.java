/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.agent.core.AgentInput;
import io.tierlog.agent.core.AgentInput.DiskFound;
import io.tierlog.agent.core.AgentInput.FoundOnDisk;
import io.tierlog.agent.disk.BlockFile;
import io.tierlog.agent.disk.HeldBlock;
import io.tierlog.schemas.Block;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells the core, page by page, what the disk tier holds, in a thread of its own: the headers are read once more, which must not hold up the
 * start. Ended before the tier is closed. Started and closed by one thread each.
 */
final class DiskWalk implements AutoCloseable {
    private static final int PAGE_BLOCKS = 1_000;

    /** Takes an input, waiting for room; false when nobody takes any more. */
    interface Inbox {
        boolean put(AgentInput input) throws InterruptedException;
    }

    private volatile @Nullable Thread thread;

    /**
     * Begins.
     *
     * @param failed hears what nobody expects
     */
    void start(String name, BlockFile file, Inbox inbox, Consumer<Throwable> failed) {
        thread = Thread.ofPlatform().name(name + "-disk-walk").daemon().start(() -> {
            try {
                tell(file, inbox);
            } catch (InterruptedException e) {
                failed.accept(new IllegalStateException("the walk through the disk was interrupted", e));
            } catch (RuntimeException e) {
                failed.accept(e);
            }
        });
    }

    private static void tell(BlockFile file, Inbox inbox) throws InterruptedException {
        Optional<BlockFile.Cursor> next = Optional.of(BlockFile.Cursor.START);
        boolean taken = true;
        while (next.isPresent() && taken) {
            BlockFile.HeldPage page = file.held(next.get(), PAGE_BLOCKS);
            next = page.next();
            List<FoundOnDisk> found = page.blocks().stream().map(DiskWalk::found).toList();
            taken = inbox.put(new DiskFound(found, next.isEmpty()));
        }
    }

    private static FoundOnDisk found(HeldBlock held) {
        Block block = new Block(held.position().index(), held.key(), held.position().parent());
        return new FoundOnDisk(held.namespace(), block, held.generation(), held.crc32c(), held.length());
    }

    /** Returns when the walk has ended; whoever takes its inputs must have closed. */
    @Override
    public void close() {
        Thread running = thread;
        if (running != null) {
            try {
                running.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
