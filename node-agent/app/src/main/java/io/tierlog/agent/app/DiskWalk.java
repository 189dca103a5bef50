/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.agent.app.store.ObjectName;
import io.tierlog.agent.app.store.SharedStore;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.DiskFound;
import io.tierlog.agent.core.api.AgentInput.FoundOnDisk;
import io.tierlog.agent.core.api.AgentInput.SeenInStore;
import io.tierlog.agent.disk.BlockFile;
import io.tierlog.agent.disk.HeldBlock;
import io.tierlog.schemas.Block;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the core, page by page, what the disk tier holds, and later which of it the shared store has too, each in a thread of its own: headers are
 * read and the store is asked once for every block, which must not hold up the start. Ended before the tier is closed.
 *
 * <p>Safe for use by several threads. Trade-off of the second walk: one look at the store for each block that survived a restart.
 */
final class DiskWalk implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DiskWalk.class);
    private static final int PAGE_BLOCKS = 1_000;
    private static final Duration ASK_AGAIN = Duration.ofSeconds(10);

    /** Takes an input, waiting for space; false when the loop has ended. */
    interface Inbox {
        boolean put(AgentInput input) throws InterruptedException;
    }

    /** What is done with a page, the last or not; false ends the walk. */
    private interface Step {
        boolean take(List<HeldBlock> page, boolean last) throws InterruptedException;
    }

    private final String name;
    private final BlockFile file;
    private final Inbox inbox;
    private final Consumer<Throwable> failed;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();
    private boolean asking;

    /**
     * @param name begins the names of the threads
     * @param failed receives an unexpected failure
     */
    DiskWalk(String name, BlockFile file, Inbox inbox, Consumer<Throwable> failed) {
        this.name = name;
        this.file = file;
        this.inbox = inbox;
        this.failed = failed;
    }

    /** Begins to tell what the disk holds. */
    void tell() {
        walk("-disk-walk", (page, last) -> inbox.put(new DiskFound(page.stream().map(DiskWalk::found).toList(), last)));
    }

    /** Begins to ask the store what it has of it; a second call does nothing. A store that cannot be asked is asked again every ten seconds. */
    synchronized void ask(SharedStore store) {
        if (!asking) {
            asking = true;
            walk("-store-walk", (page, last) -> report(store, page));
        }
    }

    /** The log has forgotten what the store has: {@link #ask} begins once more. */
    synchronized void askAgain() {
        threads.removeIf(thread -> !thread.isAlive());
        asking = closed.getCount() == 0;
    }

    private boolean report(SharedStore store, List<HeldBlock> page) throws InterruptedException {
        Map<String, List<Block>> seen = new LinkedHashMap<>();
        for (HeldBlock held : page) {
            SharedStore.Presence presence = presence(store, held);
            if (presence == null) {
                return false;
            }
            if (presence == SharedStore.Presence.PRESENT) {
                seen.computeIfAbsent(held.namespace(), any -> new ArrayList<>()).add(block(held));
            }
        }
        boolean taken = true;
        for (Map.Entry<String, List<Block>> one : seen.entrySet()) {
            taken = taken && inbox.put(new SeenInStore(one.getKey(), one.getValue()));
        }
        return taken;
    }

    /** The store's answer; null when this was closed before there was one. */
    private SharedStore.@Nullable Presence presence(SharedStore store, HeldBlock held) throws InterruptedException {
        ObjectName object = new ObjectName(ObjectName.digest(held.namespace()), held.key());
        SharedStore.Presence presence = store.check(object, held.length());
        boolean logged = false;
        while (presence == SharedStore.Presence.UNREACHABLE) {
            if (!logged) {
                LOG.warn("{}: the store cannot be asked what it has of the blocks on disk, which must stay there until it can", name);
                logged = true;
            }
            if (closed.await(ASK_AGAIN.toMillis(), TimeUnit.MILLISECONDS)) {
                return null;
            }
            presence = store.check(object, held.length());
        }
        return closed.getCount() == 0 ? null : presence;
    }

    private synchronized void walk(String suffix, Step step) {
        threads.add(Thread.ofPlatform().name(name + suffix).daemon().start(() -> {
            try {
                pages(step);
            } catch (InterruptedException e) {
                failed.accept(new IllegalStateException("the walk through the disk was interrupted", e));
            } catch (RuntimeException | Error e) {
                failed.accept(e);
            }
        }));
    }

    private void pages(Step step) throws InterruptedException {
        Optional<BlockFile.Cursor> next = Optional.of(BlockFile.Cursor.START);
        boolean taken = true;
        while (next.isPresent() && taken) {
            BlockFile.HeldPage page = file.held(next.get(), PAGE_BLOCKS);
            next = page.next();
            taken = step.take(page.blocks(), next.isEmpty());
        }
    }

    private static FoundOnDisk found(HeldBlock held) {
        return new FoundOnDisk(held.namespace(), block(held), held.generation(), held.crc32c(), held.length());
    }

    private static Block block(HeldBlock held) {
        return new Block(held.position().index(), held.key(), held.position().parent());
    }

    /** Returns when the walks have ended; the loop that takes their inputs must have closed. */
    @Override
    public void close() {
        closed.countDown();
        List<Thread> running;
        synchronized (this) {
            asking = true;
            running = List.copyOf(threads);
        }
        for (Thread thread : running) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
