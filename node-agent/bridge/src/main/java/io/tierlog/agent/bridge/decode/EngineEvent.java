/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.decode;

import io.tierlog.schemas.Bytes;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What an engine says about its blocks, the same for all dialects. Ids of tokens are counted and not kept. */
public sealed interface EngineEvent {
    /**
     * Where an engine has blocks, in its own words.
     *
     * @param medium as sent; "GPU" when the event names none
     * @param locality LOCAL, REMOTE or empty
     * @param group number of the group of layers; 0 when the event names none
     * @param scope where stores and removals both name all that a block is: such a medium has a block or has not, however often it was stored;
     *         else none, and each store is a copy
     */
    record Place(String medium, String locality, int group, Scope scope) {
        /** Of a dialect in which the hash and the group name a block. */
        public Place(String medium, String locality, int group) {
            this(medium, locality, group, Scope.NONE);
        }
    }

    /**
     * What tells blocks of one hash and one group apart.
     *
     * @param model name of the model
     * @param kvRank which part of a block it is, where several workers store one part each; empty when the block is whole
     * @param salt cache salt; empty for none
     */
    record Scope(String model, String kvRank, String salt) {
        /** The hash tells them apart, or only stores name it. */
        public static final Scope NONE = new Scope("", "", "");

        /** Whether there is none. */
        public boolean isNone() {
            return equals(NONE);
        }
    }

    /**
     * The engine has stored blocks, one after the other in a prompt.
     *
     * @param hashes keys of the blocks: 8 bytes of a number, big-endian, or the bytes as sent
     * @param parent key of the block before the first; null when there is none or none is named
     * @param first position of the first block in its prompt, in blocks; -1 when only the parent tells it
     * @param chained whether the blocks follow each other without a gap
     * @param blockTokens tokens in a block; 0 when the event does not say
     * @param adapter name of the LoRA adapter; empty for none
     * @param salt cache salt; empty for none
     */
    record Stored(Place place, List<Bytes> hashes, @Nullable Bytes parent, int first, boolean chained, int blockTokens, String adapter, String salt,
            Dialect dialect) implements EngineEvent {}

    /**
     * What a dialect's stores mean.
     *
     * @param model name of the model; empty when the event names none
     * @param expires whether removals may have no event, so that the blocks end by time
     * @param objects whether a second store is a repeat, and not a second copy
     */
    record Dialect(String model, boolean expires, boolean objects) {
        /** Each removal has an event, and each store is a copy. */
        public static final Dialect PLAIN = new Dialect("", false, false);
    }

    /** Blocks have left a place. */
    record Removed(Place place, List<Bytes> hashes) implements EngineEvent {}

    /** Blocks were used: those that end by time are still there. */
    record Accessed(Place place, List<Bytes> hashes) implements EngineEvent {}

    /** A medium has a capacity, which no foreign node has in the log. */
    record Capacity(Place place) implements EngineEvent {}

    /** Blocks have left a place for another one. */
    record Transferred(Place from, Place to, List<Bytes> hashes) implements EngineEvent {}

    /**
     * A pool is empty.
     *
     * @param medium as sent; empty when the event names none
     */
    record Cleared(String medium) implements EngineEvent {}
}
