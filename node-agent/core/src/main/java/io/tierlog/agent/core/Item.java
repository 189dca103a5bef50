/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.page.Page;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import org.jspecify.annotations.Nullable;

/**
 * One block of an operation and what became of it so far. For the core's one thread.
 *
 * <pre>
 *   PENDING --> IN_FLIGHT --> SETTLED
 *      +------------------------^
 *   JOINED ---------------------^
 * </pre>
 */
final class Item {
    enum State {
        /** Its unit has not begun. */
        PENDING,
        /** Bytes may be moving. */
        IN_FLIGHT,
        /** Another operation brings it. */
        JOINED,
        /** Known how it ends. */
        SETTLED
    }

    final Block block;
    /** Page of the device, -1 when none takes part. */
    final int devicePage;
    final long deviceGeneration;

    private State state = State.PENDING;
    private BlockStatus status = BlockStatus.UNKNOWN;
    private OperationReason reason = OperationReason.UNKNOWN;
    private int crc32c;
    private @Nullable Page page;
    private long pageGeneration;
    private boolean own;

    Item(Block block, int devicePage, long deviceGeneration) {
        this.block = block;
        this.devicePage = devicePage;
        this.deviceGeneration = deviceGeneration;
    }

    /** A block that no device page takes part in. */
    Item(Block block) {
        this(block, -1, 0);
    }

    State state() {
        return state;
    }

    BlockStatus status() {
        return status;
    }

    OperationReason reason() {
        return reason;
    }

    int crc32c() {
        return crc32c;
    }

    /** The host page it is in or goes to; null when it has none. */
    @Nullable Page page() {
        return page;
    }

    Page requirePage() {
        Page known = page;
        if (known == null) {
            throw new IllegalStateException("No host page for " + block);
        }
        return known;
    }

    boolean done() {
        return status == BlockStatus.ARRIVED || status == BlockStatus.ALREADY_THERE;
    }

    /** Takes part with a host page that serves already. */
    void on(Page host) {
        page = host;
        pageGeneration = host.generation();
    }

    /** Goes to a host page that was reserved for it. */
    void goesTo(Page host) {
        on(host);
        own = true;
    }

    /** True when its host page was reserved for it, so that this operation has to publish it or give it back. */
    boolean ownsPage() {
        return own;
    }

    /** The page is not its own any more: published, given back, or in quarantine. */
    void handedOver() {
        own = false;
    }

    void joins(Page host) {
        on(host);
        state = State.JOINED;
    }

    void begin() {
        state = State.IN_FLIGHT;
    }

    void arrived(int crc) {
        settle(BlockStatus.ARRIVED, OperationReason.COMPLETED, crc);
    }

    void alreadyThere(int crc) {
        settle(BlockStatus.ALREADY_THERE, OperationReason.COMPLETED, crc);
    }

    void failed(OperationReason why) {
        settle(BlockStatus.FAILED, why, 0);
    }

    private void settle(BlockStatus becomes, OperationReason why, int crc) {
        state = State.SETTLED;
        status = becomes;
        reason = why;
        crc32c = crc;
    }

    /** The result with the host page, where it has one at the end. */
    BlockResult onHost() {
        Page known = page;
        return done() && known != null
                ? new BlockResult(block, status, reason, known.number(), pageGeneration, crc32c)
                : new BlockResult(block, status, reason, -1, 0, 0);
    }

    /** The result with the host page it was read from, whether it went well or not. */
    BlockResult fromHost() {
        Page known = page;
        return known == null ? onHost() : new BlockResult(block, status, reason, known.number(), pageGeneration, crc32c);
    }

    /** The result with the device page. */
    BlockResult onDevice() {
        return done()
                ? new BlockResult(block, status, reason, devicePage, deviceGeneration, crc32c)
                : new BlockResult(block, status, reason, -1, 0, 0);
    }
}
