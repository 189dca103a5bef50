/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.tierlog.schemas.OperationReason;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Protocol.Command;

/**
 * Objects in Redis or Valkey: one hash per object, so that the server evicts and deletes an object as a whole. Its fields are the version {@code v},
 * the generation {@code g}, the size {@code n}, the header {@code h}, and chunks of the block of 1 MiB, {@code 0} and on, so that no command moves
 * more: the server runs one at a time.
 *
 * <p>A put stages the chunks under a key of its own that expires, then a script compares the version and renames it: one round trip. The chunks do
 * not pass through the script, since Lua would copy each twice. A read takes the version with every chunk, and begins again when another put came
 * between. Needs Redis 4 or Valkey, without cluster mode. Safe for use by several threads.
 */
final class RedisObjects implements ObjectPort {
    private static final Logger LOG = LoggerFactory.getLogger(RedisObjects.class);

    static final int CHUNK_BYTES = 1 << 20;
    private static final Duration STAGED = Duration.ofMinutes(10);
    private static final int MOST_READS = 8;
    /** For the four commands that stage a chunk. */
    private static final int STAGING_REPLIES = 4;

    /**
     * KEYS: object, staged object. ARGV: version expected, version, generation, size, header, count of chunks. A script that has removed something
     * may write on a full server, so there an object can still be replaced by its tombstone, of which nothing is staged.
     */
    static final byte[] PUBLISH = """
            local there = (redis.call('HGET', KEYS[1], 'v') or '') ~= ARGV[1]
            if there or redis.call('HLEN', KEYS[2]) ~= tonumber(ARGV[6]) then
              redis.call('UNLINK', KEYS[2])
              return there and 0 or -1
            end
            redis.call('UNLINK', KEYS[1])
            redis.call('HSET', KEYS[2], 'v', ARGV[2], 'g', ARGV[3], 'n', ARGV[4], 'h', ARGV[5])
            redis.call('RENAME', KEYS[2], KEYS[1])
            redis.call('PERSIST', KEYS[1])
            return 1""".getBytes(UTF_8);

    private final StoreLocation.Redis at;
    private final RedisConnections connections;
    private final AtomicBoolean asked = new AtomicBoolean();

    private RedisObjects(StoreLocation.Redis at) {
        this.at = at;
        this.connections = new RedisConnections(at);
    }

    /** A client; connects to nothing yet. */
    static RedisObjects open(StoreLocation.Redis at) {
        return new RedisObjects(at);
    }

    @Override
    public Optional<Seen> read(String name, ByteBuffer header, ByteBuffer body, Deadline deadline) throws StoreFault {
        byte[] key = key(name);
        int wanted = header.remaining() + body.remaining();
        for (int i = 0; i < MOST_READS; i++) {
            header.rewind();
            body.rewind();
            Optional<Seen> seen = connections.call(deadline, connection -> head(connection, key, header, body, wanted));
            if (seen.isEmpty() || seen.get().size() != wanted || rest(key, seen.get(), body, deadline)) {
                askAboutMemory(deadline);
                return seen;
            }
        }
        throw StoreFault.failed("object " + name + " was replaced " + MOST_READS + " times while it was read", new IllegalStateException(name));
    }

    /** Version, generation, size and header, and the first chunk where the body is wanted. */
    private static Optional<Seen> head(Connection connection, byte[] key, ByteBuffer header, ByteBuffer body, int wanted) {
        List<byte[]> fields = new ArrayList<>(List.of(key, bytes("v"), bytes("g"), bytes("n"), bytes("h")));
        if (body.hasRemaining()) {
            fields.add(bytes("0"));
        }
        connection.sendCommand(Command.HMGET, fields.toArray(byte[][]::new));
        List<byte @Nullable []> values = connection.getBinaryMultiBulkReply();
        byte[] version = values.get(0);
        if (version == null) {
            return Optional.empty();
        }
        put(values.get(3), header);
        long size = number(values.get(2));
        if (body.hasRemaining() && size == wanted) {
            put(values.get(4), body);
        }
        return Optional.of(new Seen(size, number(values.get(1)), new String(version, UTF_8)));
    }

    /** The chunks after the first; false when the object was replaced meanwhile. What is missing stays unread, and the checksum tells. */
    private boolean rest(byte[] key, Seen seen, ByteBuffer body, Deadline deadline) throws StoreFault {
        return connections.call(deadline, connection -> {
            for (int chunk = 1; chunk < Math.ceilDiv(body.limit(), CHUNK_BYTES); chunk++) {
                connection.sendCommand(Command.HMGET, key, bytes("v"), bytes(String.valueOf(chunk)));
                List<byte @Nullable []> values = connection.getBinaryMultiBulkReply();
                byte[] version = values.get(0);
                if (version == null || !new String(version, UTF_8).equals(seen.version())) {
                    return false;
                }
                body.position(Math.min(body.limit(), chunk * CHUNK_BYTES));
                put(values.get(1), body);
            }
            return true;
        });
    }

    /** As many bytes as there are and as fit. */
    private static void put(byte @Nullable [] from, ByteBuffer into) {
        if (from != null) {
            into.put(from, 0, Math.min(from.length, into.remaining()));
        }
    }

    private static long number(byte @Nullable [] digits) {
        String text = digits == null ? "" : new String(digits, UTF_8);
        return text.matches("\\d{1,18}") ? Long.parseLong(text) : 0;
    }

    @Override
    public boolean put(String name, Optional<String> version, Image image, Deadline deadline) throws StoreFault {
        // A repetition on another connection stages the same chunks once more, and publishes under the same version.
        String next = UUID.randomUUID().toString();
        long done = connections.call(deadline, connection -> publish(connection, name, version.orElse(""), next, image));
        if (done < 0) {
            throw StoreFault.failed("chunks of " + name + " were evicted while it was put", new IllegalStateException(name));
        }
        return done > 0;
    }

    private long publish(Connection connection, String name, String expected, String version, Image image) {
        byte[] staged = bytes(at.prefix() + ":staged:{" + name + "}:" + version);
        int chunks = Math.ceilDiv(image.body().limit(), CHUNK_BYTES);
        for (int i = 0; i < chunks; i++) {
            // Together, so that nothing staged stays for ever when this process stops in between.
            connection.sendCommand(Command.MULTI);
            connection.sendCommand(Command.HSET, staged, bytes(String.valueOf(i)), chunk(image.body(), i));
            connection.sendCommand(Command.PEXPIRE, staged, bytes(String.valueOf(STAGED.toMillis())));
            connection.sendCommand(Command.EXEC);
        }
        byte[] header = new byte[image.header().limit()];
        image.header().get(0, header);
        connection.sendCommand(Command.EVAL, PUBLISH, bytes("2"), key(name), staged,
                bytes(expected), bytes(version), bytes(String.valueOf(image.generation())), bytes(String.valueOf(image.size())), header,
                bytes(String.valueOf(chunks)));
        for (int i = 0; i < chunks * STAGING_REPLIES; i++) {
            connection.getOne();
        }
        return connection.getIntegerReply();
    }

    private static byte[] chunk(ByteBuffer body, int index) {
        int from = index * CHUNK_BYTES;
        byte[] chunk = new byte[Math.min(CHUNK_BYTES, body.limit() - from)];
        body.get(from, chunk);
        return chunk;
    }

    /** Once: what the server does when its memory is full. It may be forbidden to ask. */
    private void askAboutMemory(Deadline deadline) throws StoreFault {
        if (asked.compareAndSet(false, true)) {
            try {
                String info = connections.call(deadline, connection -> {
                    connection.sendCommand(Command.INFO, "memory");
                    return connection.getBulkReply();
                });
                if (!info.contains("maxmemory_policy:noeviction")) {
                    LOG.warn("{}: the server evicts when its memory is full: blocks that the log counts as stored will be missing;"
                            + " set maxmemory-policy noeviction", at);
                }
                if (info.lines().anyMatch("maxmemory:0"::equals)) {
                    LOG.warn("{}: the server's memory has no bound: set maxmemory", at);
                }
            } catch (StoreFault e) {
                if (e.reason() != OperationReason.IO && e.asksForPause()) {
                    asked.set(false);
                    throw e;
                }
                LOG.info("{}: does not tell its memory policy, which must be noeviction: {}", at, e.getMessage());
            }
        }
    }

    private byte[] key(String name) {
        return bytes(at.prefix() + ":{" + name + "}");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    @Override
    public String toString() {
        return at.toString();
    }

    @Override
    public void close() {
        connections.close();
    }
}
