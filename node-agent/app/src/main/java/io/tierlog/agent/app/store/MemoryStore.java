/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.agent.app.memory.Checksums;
import io.tierlog.schemas.OperationReason;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.UnaryOperator;

/**
 * A simulated store: whole objects, headers included, on the heap of one process. Safe for use by several threads; for tests and for runs
 * that shall leave nothing behind.
 */
public final class MemoryStore implements SharedStore {
    private final ConcurrentMap<ObjectName, byte[]> objects = new ConcurrentHashMap<>();
    /** The generation of the last object of a name that was deleted or wrong. */
    private final ConcurrentMap<ObjectName, Long> floors = new ConcurrentHashMap<>();
    private volatile boolean reachable = true;

    /** Makes the store answer, or not. */
    public void setReachable(boolean answers) {
        reachable = answers;
    }

    /** Changes the bytes of an object, header included, as a bad disk would. */
    public void corrupt(ObjectName name, UnaryOperator<byte[]> change) {
        objects.computeIfPresent(name, (same, image) -> change.apply(image.clone()));
    }

    @Override
    public Presence probe(ObjectName name) {
        if (!reachable) {
            return Presence.UNREACHABLE;
        }
        return objects.containsKey(name) ? Presence.PRESENT : Presence.ABSENT;
    }

    @Override
    public Presence check(ObjectName name, int bytes) {
        byte[] image = objects.get(name);
        if (!reachable || image == null) {
            return probe(name);
        }
        boolean whole = ObjectHeader.parse(ByteBuffer.wrap(image))
                .filter(header -> header.name().equals(name) && header.length() == bytes && image.length == ObjectHeader.BYTES + bytes)
                .isPresent();
        return whole ? Presence.PRESENT : Presence.ABSENT;
    }

    @Override
    public Result read(ObjectName name, ByteBuffer into) {
        if (!reachable) {
            return unreachable();
        }
        byte[] image = objects.get(name);
        if (image == null) {
            return Result.failed(OperationReason.NOT_FOUND, "no object " + name.key());
        }
        Optional<ObjectHeader> header = ObjectHeader.parse(ByteBuffer.wrap(image));
        int payload = image.length - ObjectHeader.BYTES;
        if (header.isEmpty()
                || !header.get().name().equals(name)
                || header.get().length() != payload
                || Checksums.crc32c(image, ObjectHeader.BYTES, payload) != header.get().crc32c()) {
            objects.computeIfPresent(name, (same, now) -> {
                if (now != image) {
                    return now;
                }
                floors.merge(name, 1L, Long::sum);
                return null;
            });
            return Result.failed(OperationReason.CHECKSUM, "object " + name.key() + " is not what was written");
        }
        if (payload != into.limit()) {
            return DirectoryStore.otherSize(name, payload, into.limit());
        }
        into.put(0, image, ObjectHeader.BYTES, payload);
        return Result.arrived(header.get().crc32c(), header.get().generation());
    }

    @Override
    public Result write(ObjectName name, ByteBuffer bytes, int crc32c) {
        if (!reachable) {
            return unreachable();
        }
        Result[] result = new Result[1];
        // All of it under the lock of the name, so that no delete comes between the look at the floor and the put.
        objects.compute(name, (same, there) -> {
            if (there != null) {
                result[0] = ObjectHeader.parse(ByteBuffer.wrap(there))
                        .map(header -> Result.alreadyThere(header.crc32c(), header.generation()))
                        .orElseGet(() -> Result.failed(OperationReason.IO, "object " + name.key() + " has no whole header; a read moves it aside"));
                return there;
            }
            long generation = 1 + floors.getOrDefault(name, 0L);
            byte[] image = new byte[ObjectHeader.BYTES + bytes.limit()];
            new ObjectHeader(name, bytes.limit(), crc32c, generation).put(ByteBuffer.wrap(image));
            bytes.get(0, image, ObjectHeader.BYTES, bytes.limit());
            result[0] = Result.arrived(crc32c, generation);
            return image;
        });
        return result[0];
    }

    @Override
    public Result delete(ObjectName name, long generation) {
        if (!reachable) {
            return unreachable();
        }
        Result[] result = {Result.failed(OperationReason.NOT_FOUND, "no object " + name.key())};
        objects.computeIfPresent(name, (same, there) -> {
            long found = ObjectHeader.parse(ByteBuffer.wrap(there)).map(ObjectHeader::generation).orElse(generation);
            if (found != generation) {
                result[0] = DirectoryStore.staleGeneration(name, found, generation);
                return there;
            }
            floors.put(name, generation);
            result[0] = Result.gone(generation);
            return null;
        });
        return result[0];
    }

    @Override
    public void close() {
        objects.clear();
    }

    private static Result unreachable() {
        return Result.failed(OperationReason.STORE_UNAVAILABLE, "the simulated store does not answer");
    }
}
