/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.nio.ByteBuffer;

/**
 * A store that several agents share, one object per block. Calls block; none throws for what a store can suffer: whatever goes wrong is a
 * typed result.
 *
 * <p>Safe for use by several threads and processes. An object, once there, does not change; a wrong one is moved aside by the caller that finds it,
 * so that the next write puts a right one.
 */
public interface SharedStore extends AutoCloseable {
    /** Whether an object is there. */
    enum Presence {
        PRESENT,
        ABSENT,
        /** The store could not be asked. */
        UNREACHABLE
    }

    /**
     * What became of one read, write or delete.
     *
     * @param status ARRIVED; ALREADY_THERE (writes: an object of that name was there, nothing was written); GONE (deletes); FAILED
     * @param reason COMPLETED, or why it failed: NOT_FOUND, CHECKSUM, UNSUPPORTED (a right object of another size), STALE_GENERATION (deletes:
     *     the object has another), STORE_UNAVAILABLE, IO
     * @param crc32c of the object's bytes; 0 when it failed or is gone
     * @param generation of the object, from 1; rises when a deleted or a wrong one is replaced; 0 when it failed
     * @param detail a sentence for people; empty when nothing failed
     */
    record Result(BlockStatus status, OperationReason reason, int crc32c, long generation, String detail) {
        static Result arrived(int crc32c, long generation) {
            return new Result(BlockStatus.ARRIVED, OperationReason.COMPLETED, crc32c, generation, "");
        }

        static Result alreadyThere(int crc32c, long generation) {
            return new Result(BlockStatus.ALREADY_THERE, OperationReason.COMPLETED, crc32c, generation, "");
        }

        static Result gone(long generation) {
            return new Result(BlockStatus.GONE, OperationReason.COMPLETED, 0, generation, "");
        }

        static Result failed(OperationReason reason, String detail) {
            return new Result(BlockStatus.FAILED, reason, 0, 0, detail);
        }
    }

    /** Looks for an object; does not read its bytes. */
    Presence probe(ObjectName name);

    /**
     * Looks at an object's header too: PRESENT when by it this is a whole object of that name and size, ABSENT when it is anything else. Its
     * bytes are not read, so they may still be wrong.
     *
     * @param bytes of the object, 1 or more
     */
    Presence check(ObjectName name, int bytes);

    /**
     * Reads an object into all of {@code into} (position 0 to limit; the position afterwards is undefined) and verifies name, length and
     * checksum. What stands in {@code into} after a failure is undefined.
     */
    Result read(ObjectName name, ByteBuffer into);

    /**
     * Puts an object if none of that name is there.
     *
     * @param bytes the whole buffer from position 0 to its limit; the position afterwards is undefined
     * @param crc32c of those bytes, checked by the caller
     */
    Result write(ObjectName name, ByteBuffer bytes, int crc32c);

    /**
     * Deletes an object of exactly this generation: GONE, or FAILED with NOT_FOUND, STALE_GENERATION, or what the store suffers. The next object of
     * that name has a higher generation, so a delete that comes late, or twice, removes nothing that was put after it was decided, and
     * another generation is never out of sight. A read under way ends well or with NOT_FOUND.
     *
     * @param generation 1 or more
     */
    Result delete(ObjectName name, long generation);

    /** Objects found wrong so far by this process, count. */
    long wrongObjects();

    @Override
    void close();
}
