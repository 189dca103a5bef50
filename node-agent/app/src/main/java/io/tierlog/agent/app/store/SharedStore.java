/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.nio.ByteBuffer;

/**
 * A store that several agents share, one object per block. Calls block; none throws for what a store can suffer: whatever goes wrong is a
 * typed result.
 *
 * <p>Safe for use by several threads and processes. An object, once there, does not change; a wrong one is moved aside by whoever finds it,
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
     * What became of one read or write.
     *
     * @param status ARRIVED; ALREADY_THERE (writes: an object of that name was there, nothing was written); FAILED
     * @param reason COMPLETED, or why it failed: NOT_FOUND, CHECKSUM, UNSUPPORTED (a right object of another size),
     *     STORE_UNAVAILABLE, IO
     * @param crc32c of the object's bytes; 0 when it failed
     * @param generation of the object, from 1; higher when a wrong one was replaced; 0 when it failed
     * @param detail a sentence for people; empty when nothing failed
     */
    record Result(BlockStatus status, OperationReason reason, int crc32c, long generation, String detail) {
        static Result arrived(int crc32c, long generation) {
            return new Result(BlockStatus.ARRIVED, OperationReason.COMPLETED, crc32c, generation, "");
        }

        static Result alreadyThere(int crc32c, long generation) {
            return new Result(BlockStatus.ALREADY_THERE, OperationReason.COMPLETED, crc32c, generation, "");
        }

        static Result failed(OperationReason reason, String detail) {
            return new Result(BlockStatus.FAILED, reason, 0, 0, detail);
        }
    }

    /** Looks for an object; does not read its bytes. */
    Presence probe(ObjectName name);

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

    @Override
    void close();
}
