/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.operation;

import io.tierlog.agent.core.disk.DiskPlacement;
import io.tierlog.agent.core.page.Page;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Tier;
import org.jspecify.annotations.Nullable;

/**
 * One block of an operation and what became of it so far. For the core's one thread.
 *
 * <pre>
 *   PENDING <-> IN_FLIGHT --> SETTLED      (back: another source is tried)
 *      +------------------------^
 *   JOINED ---------------------^
 * </pre>
 */
public final class BlockTransfer {
    public enum State {
        /** Its unit has not begun. */
        PENDING,
        /** Bytes may be moving. */
        IN_FLIGHT,
        /** Another operation brings it. */
        JOINED,
        /** Known how it ends. */
        SETTLED
    }

    private static final int NO_PAGE = -1;

    final Block block;
    /** Page of the device, -1 when none takes part. */
    final int devicePage;
    /** Generation that the command or call names: of the device page, or of the copy to drop; 0 when it names none. */
    final long generation;

    private State state = State.PENDING;
    private BlockStatus status = BlockStatus.UNKNOWN;
    private OperationReason reason = OperationReason.UNKNOWN;
    private int crc32c;
    private @Nullable Page page;
    private long pageGeneration;
    private boolean own;
    private Tier from = Tier.UNKNOWN;
    private @Nullable DiskPlacement placement;
    private long writtenGeneration;
    private boolean ownPlacement;
    private int bounce = NO_PAGE;
    private boolean carried;
    private int carriedCrc32c;
    private boolean fromPeer;

    public BlockTransfer(Block block, int devicePage, long generation) {
        this.block = block;
        this.devicePage = devicePage;
        this.generation = generation;
    }

    /** A block that no device page takes part in. */
    public BlockTransfer(Block block) {
        this(block, NO_PAGE, 0);
    }

    public Block block() {
        return block;
    }

    public int devicePage() {
        return devicePage;
    }

    public long generation() {
        return generation;
    }

    public State state() {
        return state;
    }

    BlockStatus status() {
        return status;
    }

    public OperationReason reason() {
        return reason;
    }

    int crc32c() {
        return crc32c;
    }

    /** The host page it is in or goes to; null when it has none. */
    public @Nullable Page page() {
        return page;
    }

    public Page requirePage() {
        Page known = page;
        if (known == null) {
            throw new IllegalStateException("No host page for " + block);
        }
        return known;
    }

    public boolean done() {
        return status == BlockStatus.ARRIVED || status == BlockStatus.ALREADY_THERE;
    }

    /** Takes part with a host page that serves already. */
    public void on(Page host) {
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

    /** Another owner sees to the page now: it was published, freed, or put in quarantine. */
    void handedOver() {
        own = false;
    }

    public void joins(Page host) {
        on(host);
        state = State.JOINED;
    }

    void begin() {
        state = State.IN_FLIGHT;
    }

    /** Another source is tried. */
    void again() {
        state = State.PENDING;
    }

    /** Its bytes have come from {@code tier}. */
    void arrived(int crc, Tier tier) {
        settle(BlockStatus.ARRIVED, OperationReason.COMPLETED, crc);
        from = tier;
    }

    public void alreadyThere(int crc) {
        settle(BlockStatus.ALREADY_THERE, OperationReason.COMPLETED, crc);
    }

    public void failed(OperationReason why) {
        settle(BlockStatus.FAILED, why, 0);
    }

    /** No lookup finds its placement now; it was dropped because the agent saw the block on that tier, UNKNOWN where a last copy may go. */
    void gone(Tier seenOn) {
        settle(BlockStatus.GONE, OperationReason.COMPLETED, 0);
        from = seenOn;
    }

    /** Its placement had gone before. */
    public void goneBefore() {
        settle(BlockStatus.GONE, OperationReason.NOT_FOUND, 0);
    }

    private void settle(BlockStatus becomes, OperationReason why, int crc) {
        state = State.SETTLED;
        status = becomes;
        reason = why;
        crc32c = crc;
        from = Tier.UNKNOWN;
    }

    // --- its placement on the disk

    /** The placement on the disk that takes part; null when none does. */
    public @Nullable DiskPlacement placement() {
        return placement;
    }

    public DiskPlacement requirePlacement() {
        DiskPlacement known = placement;
        if (known == null) {
            throw new IllegalStateException("No placement on disk of " + block);
        }
        return known;
    }

    /** Takes part with a placement on the disk that serves; null when none takes part from now on. */
    public void on(@Nullable DiskPlacement there) {
        placement = there;
    }

    /** Writes a placement on the disk that was reserved for it, or removes one: this operation publishes or removes it at its end. */
    public void owns(DiskPlacement reserved) {
        placement = reserved;
        ownPlacement = true;
    }

    public boolean ownsPlacement() {
        return ownPlacement;
    }

    /** Another owner removes or publishes the placement. */
    void placementHandedOver() {
        ownPlacement = false;
    }

    /** The disk or the store has given its copy this generation. */
    void written(long generation) {
        writtenGeneration = generation;
    }

    long writtenGeneration() {
        return writtenGeneration;
    }

    // --- reads from another node

    /** Its source is another node. */
    public void fromPeer() {
        fromPeer = true;
    }

    /** Its source is the store again. */
    void notFromPeer() {
        fromPeer = false;
    }

    public boolean isFromPeer() {
        return fromPeer;
    }

    // --- a page of the agent's own that its bytes go through

    /** Its bytes go through this page. */
    void goesThrough(int page) {
        bounce = page;
    }

    /** True while it has a page of the agent's own. */
    boolean isThrough() {
        return bounce != NO_PAGE;
    }

    /** The page of the agent's own that it has. */
    int through() {
        if (!isThrough()) {
            throw new IllegalStateException("No page of the agent's own for " + block);
        }
        return bounce;
    }

    /** Releases that page and returns it. */
    int leavesThrough() {
        int page = through();
        bounce = NO_PAGE;
        return page;
    }

    /** Its bytes, of this checksum, stand in that page, whole and checked. */
    void carried(int crc) {
        carried = true;
        carriedCrc32c = crc;
    }

    boolean isCarried() {
        return carried;
    }

    int carriedCrc32c() {
        return carriedCrc32c;
    }

    // --- results

    /** Generation of its host page when it took part. */
    long pageGeneration() {
        return pageGeneration;
    }

    /** Tier its bytes came from; UNKNOWN when none came. */
    Tier from() {
        return from;
    }

    /** The result with the placement on the disk, which has no page. */
    BlockResult onDisk() {
        DiskPlacement known = placement;
        return new BlockResult(block, status, reason, -1, done() && known != null ? known.generation() : 0, crc32c, from);
    }

    /** The result in the store, which has no pages; the generation of the object is in the report to its shard. */
    BlockResult inStore() {
        return new BlockResult(block, status, reason, -1, 0, crc32c, from);
    }

    /** The result with the host page, where it has one at the end. */
    BlockResult onHost() {
        Page known = page;
        return done() && known != null
                ? new BlockResult(block, status, reason, known.number(), pageGeneration, crc32c, from)
                : new BlockResult(block, status, reason, -1, 0, 0, from);
    }

    /** The result with the host page it was read from, whether it went well or not. */
    BlockResult fromHost() {
        Page known = page;
        return known == null ? onHost() : new BlockResult(block, status, reason, known.number(), pageGeneration, crc32c, from);
    }

    /** The result with the device page. */
    BlockResult onDevice() {
        return done()
                ? new BlockResult(block, status, reason, devicePage, generation, crc32c, from)
                : new BlockResult(block, status, reason, -1, 0, 0, from);
    }
}
