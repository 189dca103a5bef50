/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A simulated server: objects on the heap of one process. Safe for use by several threads; for tests. */
public final class MemoryObjects implements ObjectPort {
    private final ConcurrentMap<String, Held> objects = new ConcurrentHashMap<>();
    private volatile @Nullable StoreFault fault;

    private record Held(byte[] image, long generation, long version) {}

    /** A store over it. */
    public RemoteStore store() {
        return new RemoteStore(this, Duration.ofSeconds(10), InstantSource.system());
    }

    /** Makes every call fail; null makes the server answer again. */
    void fail(@Nullable StoreFault how) {
        fault = how;
    }

    /** Puts bytes that are no object of Tierlog in the place of every object. */
    void foreign(String bytes) {
        objects.replaceAll((name, held) -> new Held(bytes.getBytes(StandardCharsets.UTF_8), 0, held.version() + 1));
    }

    /** Changes the bytes of every object, header included, as a bad disk would. */
    public void corrupt(UnaryOperator<byte[]> change) {
        objects.replaceAll((name, held) -> new Held(change.apply(held.image().clone()), held.generation(), held.version() + 1));
    }

    @Override
    public Optional<Seen> read(String name, ByteBuffer header, ByteBuffer body, Deadline deadline) throws StoreFault {
        failIfAsked();
        Held held = objects.get(name);
        if (held == null) {
            return Optional.empty();
        }
        byte[] image = held.image();
        int head = header.remaining();
        if (image.length == head + body.remaining()) {
            body.put(image, head, body.remaining());
        }
        header.put(image, 0, Math.min(image.length, head));
        return Optional.of(new Seen(image.length, held.generation(), String.valueOf(held.version())));
    }

    @Override
    public boolean put(String name, Optional<String> version, Image image, Deadline deadline) throws StoreFault {
        failIfAsked();
        byte[] bytes = new byte[image.size()];
        image.header().get(0, bytes, 0, image.header().limit());
        image.body().get(0, bytes, image.header().limit(), image.body().limit());
        boolean[] done = {false};
        objects.compute(name, (same, there) -> {
            done[0] = version.equals(Optional.ofNullable(there).map(held -> String.valueOf(held.version())));
            return done[0] ? new Held(bytes, image.generation(), there == null ? 1 : there.version() + 1) : there;
        });
        return done[0];
    }

    private void failIfAsked() throws StoreFault {
        StoreFault asked = fault;
        if (asked != null) {
            throw asked;
        }
    }

    @Override
    public String toString() {
        return "the simulated store";
    }

    @Override
    public void close() {
        objects.clear();
    }
}
