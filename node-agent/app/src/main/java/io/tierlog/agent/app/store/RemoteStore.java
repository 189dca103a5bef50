/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.agent.app.memory.Checksums;
import io.tierlog.agent.app.store.ObjectPort.Image;
import io.tierlog.agent.app.store.ObjectPort.Seen;
import io.tierlog.schemas.OperationReason;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The rules of the store over a server of objects that can compare and set ({@link ObjectPort}).
 *
 * <p>Every change is bound to the version that was seen before, so of two callers that change one object the second sees what the first did, and
 * begins again. A deleted or wrong object is replaced by a <b>tombstone</b>: a header of length 0 that holds its generation. The next put replaces
 * the tombstone under the next generation, so a generation of one key is given once as long as the server forgets no tombstone. Where it does (a
 * lifecycle rule, eviction), generations begin at 1 again, and a late delete may remove a right object: work, never wrong bytes.
 *
 * <p>One deadline bounds a call, whatever it consists of. After a call to which the server did not answer, calls fail at once for a second, so that a
 * transfer of many blocks does not wait for a dead server once for each.
 *
 * <p>Safe for use by several threads and processes. Trade-offs: a put takes two round trips, the look and the put; tombstones stay.
 */
public final class RemoteStore implements SharedStore {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteStore.class);

    /** How often one call may find that another one has changed the object between its look and its put. */
    private static final int MOST_ATTEMPTS = 16;
    private static final long PAUSE_NS = 1_000_000_000L;
    private static final ByteBuffer NO_BODY = ByteBuffer.allocate(0);

    private final ObjectPort objects;
    private final Duration timeout;
    private final InstantSource clock;
    private final LongAdder wrongObjects = new LongAdder();
    private final AtomicLong pausedCalls = new AtomicLong();
    private volatile Pause pause = new Pause(System.nanoTime(), "");
    private final ThreadLocal<ByteBuffer> headers = ThreadLocal.withInitial(() -> ByteBuffer.allocate(ObjectHeader.BYTES));

    /** Calls fail at once until then, and why. */
    private record Pause(long untilNs, String why) {}

    /**
     * What a look has found.
     *
     * @param result as of {@link DirectoryStore#judge}; NOT_FOUND for a tombstone too
     * @param version of what is there, a tombstone included; empty for nothing
     * @param generation highest that was given to this key, as far as the object tells; 0 for nothing
     */
    private record Look(Result result, Optional<String> version, long generation) {
        boolean wrong() {
            return result.reason() == OperationReason.CHECKSUM;
        }

        Look wrong(String detail) {
            return new Look(Result.failed(OperationReason.CHECKSUM, detail), version, generation);
        }
    }

    /** One try of a call. */
    private interface Attempt {
        /** Nothing when it must be tried again. */
        Optional<Result> run(Deadline deadline) throws StoreFault;
    }

    /**
     * @param objects closed with this
     * @param timeout of one call
     * @param clock gives a generation to the successor of an object that does not tell its own
     */
    RemoteStore(ObjectPort objects, Duration timeout, InstantSource clock) {
        this.objects = objects;
        this.timeout = timeout;
        this.clock = clock;
    }

    @Override
    public long wrongObjects() {
        return wrongObjects.sum();
    }

    /** Calls that failed at once because the server had not answered just before, count. */
    public long pausedCalls() {
        return pausedCalls.get();
    }

    @Override
    public Presence probe(ObjectName name) {
        return presence(name, -1);
    }

    @Override
    public Presence check(ObjectName name, int bytes) {
        return presence(name, bytes);
    }

    private Presence presence(ObjectName name, int bytes) {
        Result found = call(name, deadline -> Optional.of(look(name, NO_BODY, bytes, deadline).result()));
        return DirectoryStore.presence(found.reason());
    }

    @Override
    public Result read(ObjectName name, ByteBuffer into) {
        ByteBuffer page = into.slice(0, into.limit());
        boolean[] again = {false};
        return call(name, deadline -> {
            // Looked at twice before it is condemned: its bytes may have been damaged on the way, or the object replaced while it was read.
            // The second look is not into the page: a page with a stuck bit makes every object wrong that is read into it.
            boolean second = again[0];
            ByteBuffer bytes = second ? ByteBuffer.allocate(page.capacity()) : page;
            Look look = checked(look(name, bytes.clear(), bytes.limit(), deadline), bytes);
            if (look.wrong()) {
                again[0] = true;
                return second && condemn(name, look, deadline) ? Optional.of(look.result()) : Optional.empty();
            }
            return Optional.of(second ? DirectoryStore.copy(name, look.result(), bytes, page) : look.result());
        });
    }

    /** The look, with CHECKSUM where the bytes that it has put are not those of the object. */
    private static Look checked(Look look, ByteBuffer bytes) {
        boolean same = look.result().reason() != OperationReason.COMPLETED || Checksums.crc32c(bytes.flip()) == look.result().crc32c();
        return same ? look : look.wrong("its bytes do not match its checksum");
    }

    @Override
    public Result write(ObjectName name, ByteBuffer bytes, int crc32c) {
        ByteBuffer body = bytes.slice(0, bytes.limit());
        return call(name, deadline -> {
            Look there = look(name, NO_BODY, body.limit(), deadline);
            if (there.result().reason() == OperationReason.COMPLETED) {
                return Optional.of(Result.alreadyThere(there.result().crc32c(), there.result().generation()));
            }
            if (!there.wrong() && there.result().reason() != OperationReason.NOT_FOUND) {
                return Optional.of(there.result());
            }
            ObjectHeader header = new ObjectHeader(name, body.limit(), crc32c, there.generation() + 1);
            if (!put(header, there.version(), body, deadline)) {
                return Optional.empty();
            }
            if (there.wrong()) {
                found(name, there, "replaced");
            }
            return Optional.of(Result.arrived(crc32c, header.generation()));
        });
    }

    @Override
    public Result delete(ObjectName name, long generation) {
        return call(name, deadline -> {
            Look there = look(name, NO_BODY, -1, deadline);
            if (there.result().reason() != OperationReason.COMPLETED) {
                return Optional.of(there.result());
            }
            if (there.generation() != generation) {
                return Optional.of(DirectoryStore.staleGeneration(name, there.generation(), generation));
            }
            return bury(name, there, deadline) ? Optional.of(Result.gone(generation)) : Optional.empty();
        });
    }

    @Override
    public void close() {
        objects.close();
    }

    @Override
    public String toString() {
        return objects.toString();
    }

    private Result call(ObjectName name, Attempt attempt) {
        Pause now = pause;
        if (now.untilNs() - System.nanoTime() > 0) {
            pausedCalls.incrementAndGet();
            return Result.failed(OperationReason.STORE_UNAVAILABLE, now.why());
        }
        Deadline deadline = Deadline.in(timeout);
        try {
            for (int i = 0; i < MOST_ATTEMPTS; i++) {
                Optional<Result> result = attempt.run(deadline);
                if (result.isPresent()) {
                    return result.get();
                }
            }
            return Result.failed(OperationReason.IO,
                    "object " + name.key() + " of " + objects + " was changed " + MOST_ATTEMPTS + " times meanwhile");
        } catch (StoreFault e) {
            String why = objects + ": " + e.getMessage();
            if (e.asksForPause()) {
                pause = new Pause(System.nanoTime() + PAUSE_NS, why);
            }
            return Result.failed(e.reason(), why);
        }
    }

    private Look look(ObjectName name, ByteBuffer body, int length, Deadline deadline) throws StoreFault {
        ByteBuffer bytes = headers.get().clear();
        Seen seen = objects.read(path(name), bytes, body, deadline).orElse(null);
        if (seen == null) {
            return new Look(notFound(name), Optional.empty(), 0);
        }
        Optional<ObjectHeader> header = ObjectHeader.parse(bytes.flip());
        // Header and server tell the same generation, unless one of them is wrong: the higher one was given.
        long generation = Math.max(seen.generation(), header.map(ObjectHeader::generation).orElse(0L));
        if (generation <= 0) {
            // Bytes that Tierlog did not put. Seconds are more than any count of deletes of one key.
            generation = clock.instant().getEpochSecond();
        }
        boolean tombstone = header.filter(one -> one.name().equals(name) && one.length() == 0).isPresent() && seen.size() == ObjectHeader.BYTES;
        Result result = tombstone ? notFound(name) : DirectoryStore.judge(name, bytes, seen.size(), length);
        return new Look(result, Optional.of(seen.version()), generation);
    }

    private static Result notFound(ObjectName name) {
        return Result.failed(OperationReason.NOT_FOUND, "no object " + name.key());
    }

    /** Takes a wrong object out of sight, unless it was replaced meanwhile. One that may not be changed stays, and counts each time. */
    private boolean condemn(ObjectName name, Look look, Deadline deadline) {
        String fate = "deleted";
        try {
            if (!bury(name, look, deadline)) {
                return false;
            }
        } catch (StoreFault e) {
            fate = "stays there, because " + e.getMessage();
        }
        found(name, look, fate);
        return true;
    }

    private void found(ObjectName name, Look wrong, String fate) {
        wrongObjects.increment();
        LOG.warn("object {} of {} is wrong ({}) and {}", name.key(), objects, wrong.result().detail(), fate);
    }

    private boolean bury(ObjectName name, Look there, Deadline deadline) throws StoreFault {
        return put(new ObjectHeader(name, 0, 0, there.generation()), there.version(), NO_BODY, deadline);
    }

    private boolean put(ObjectHeader header, Optional<String> version, ByteBuffer body, Deadline deadline) throws StoreFault {
        ByteBuffer head = headers.get().clear();
        header.put(head);
        return objects.put(path(header.name()), version, new Image(head, body, header.generation()), deadline);
    }

    private static String path(ObjectName name) {
        return name.namespace().hex() + "/" + name.key().hex();
    }
}
