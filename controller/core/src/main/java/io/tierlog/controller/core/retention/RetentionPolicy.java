/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.retention;

/**
 * Says which leaf leaves a full tier next. A refusal to admit a block is no call of its own: the tier takes all blocks of a request, and then
 * the policy may name one of them. Confined to one thread.
 */
public interface RetentionPolicy {
    /**
     * A request used {@code block}, which is in the tier now. The blocks of a request come from the deepest to the first, so that among equals the
     * deeper one is the older one.
     */
    void used(Kept block, Use use);

    /** The last block that extended {@code block} has left: it may leave now. */
    void leaf(Kept block);

    /** A new block extends {@code block}, which was a leaf: it must stay now. */
    void extended(Kept block);

    /**
     * The leaf that leaves next; the policy no longer counts it as in the tier.
     *
     * @throws IllegalStateException when the tier is empty
     */
    Kept nextToLeave();

    /** Bytes of the state that the policy keeps: for each block of a full tier, its share of ghosts and sketches included. */
    double bytesPerBlock();
}
