/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.threads.Supervised;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Connections to a Redis server, at most so many at a time, each used by one call.
 *
 * <p>The deadline of a call holds for all of it. Jedis has time-outs for one wait for bytes, and connects again when a connection was cut, each with
 * its own time-out: a server that sends a byte now and then would hold a call for as long as it likes. So a thread closes the socket of a call at its
 * deadline, and a connection has one socket: when that is gone the connection is too.
 *
 * <p>Safe for use by several threads.
 */
final class RedisConnections implements AutoCloseable {
    private final StoreLocation.Redis at;
    private final JedisClientConfig config;
    private final Semaphore free;
    private final ConcurrentLinkedDeque<Link> idle = new ConcurrentLinkedDeque<>();
    private final ScheduledExecutorService deadlines;

    /** What a call does with its connection. */
    interface Conversation<T> {
        T with(Connection connection);
    }

    RedisConnections(StoreLocation.Redis at) {
        this.at = at;
        DefaultJedisClientConfig.Builder builder = DefaultJedisClientConfig.builder()
                .database(at.database()).clientSetInfoConfig(ClientSetInfoConfig.DISABLED);
        at.user().ifPresent(builder::user);
        at.passwordFile().map(RedisConnections::password).ifPresent(builder::password);
        config = builder.build();
        free = new Semaphore(at.access().connections());
        deadlines = Supervised.scheduler("store-deadlines");
    }

    private static String password(Path file) {
        try {
            String first = Files.readString(file).lines().findFirst().orElse("").strip();
            if (first.isEmpty()) {
                throw new IllegalArgumentException("--store: " + file + " has no password in its first line");
            }
            return first;
        } catch (IOException e) {
            throw new IllegalArgumentException("--store: cannot read " + file + ", the password-file of redis", e);
        }
    }

    /** Runs a conversation; it must be one that can be repeated from its start, because an idle connection may turn out to be cut. */
    <T> T call(Deadline deadline, Conversation<T> conversation) throws StoreFault {
        acquire(deadline);
        try {
            Optional<Link> used = Optional.ofNullable(idle.pollFirst());
            if (used.isPresent()) {
                try {
                    return once(used.get(), deadline, conversation);
                } catch (JedisConnectionException e) {
                    if (deadline.isOver()) {
                        throw e;
                    }
                    // The server has closed what was idle, or was started again: the other idle ones are cut too.
                    closeIdle();
                }
            }
            return once(new Link(), deadline, conversation);
        } catch (JedisConnectionException e) {
            throw StoreFault.silent(deadline.isOver() ? "no whole answer in " + at.access().timeout().toMillis() + " ms" : reason(e), e);
        } catch (JedisDataException e) {
            throw fault(e);
        } catch (JedisException e) {
            throw StoreFault.failed(reason(e), e);
        } finally {
            free.release();
        }
    }

    private void acquire(Deadline deadline) throws StoreFault {
        try {
            if (!free.tryAcquire(deadline.leftMs(), TimeUnit.MILLISECONDS)) {
                throw StoreFault.silent("all " + at.access().connections() + " connections are in use", new JedisException("no connection free"));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw StoreFault.refused("interrupted", e);
        }
    }

    private <T> T once(Link link, Deadline deadline, Conversation<T> conversation) {
        Future<?> cut = deadlines.schedule(link::cut, deadline.leftMs(), TimeUnit.MILLISECONDS);
        boolean whole = false;
        try {
            T result = conversation.with(link.open(deadline));
            whole = true;
            return result;
        } finally {
            // After a failure replies may be on their way that belong to no question.
            if (cut.cancel(false) && whole) {
                idle.addFirst(link);
            } else {
                link.cut();
            }
        }
    }

    private static String reason(JedisException e) {
        Throwable cause = e;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause == e ? String.valueOf(e.getMessage()) : e.getMessage() + ": " + cause.getMessage();
    }

    private static StoreFault fault(JedisDataException e) {
        String why = String.valueOf(e.getMessage());
        return switch (why.split(" ", 2)[0]) {
            case "LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN" -> StoreFault.silent(why, e);
            case "READONLY", "NOAUTH", "WRONGPASS", "NOPERM", "NOSCRIPT", "MISCONF", "NOREPLICAS", "DENIED", "MOVED" -> StoreFault.refused(why, e);
            case "OOM" -> StoreFault.full(why, e); // what it has can be read
            default -> StoreFault.failed(why, e);
        };
    }

    private void closeIdle() {
        for (Link link = idle.pollFirst(); link != null; link = idle.pollFirst()) {
            link.cut();
        }
    }

    @Override
    public void close() {
        deadlines.shutdownNow();
        closeIdle();
    }

    /** One socket and the Jedis connection on it. Used by one call at a time; cut by the thread of the deadlines too. */
    private final class Link {
        private final AtomicReference<@Nullable Socket> socket = new AtomicReference<>();
        private @Nullable Connection connection;

        Connection open(Deadline deadline) {
            Connection open = connection;
            if (open == null) {
                open = new Connection(() -> connect(deadline), config);
                connection = open;
            }
            // Set for each call: one wait for bytes lasts no longer than the call.
            open.setSoTimeout(deadline.leftMs());
            return open;
        }

        private Socket connect(Deadline deadline) {
            Socket plain = new Socket();
            if (!socket.compareAndSet(null, plain)) {
                throw new JedisConnectionException("the connection was cut");
            }
            try {
                plain.setTcpNoDelay(true);
                plain.setSoTimeout(deadline.leftMs());
                plain.connect(new InetSocketAddress(at.host(), at.port()), deadline.leftMs());
                return at.tls() ? encrypted(plain) : plain;
            } catch (IOException e) {
                throw new JedisConnectionException("cannot connect to " + at.host() + ":" + at.port(), e);
            }
        }

        private SSLSocket encrypted(Socket plain) throws IOException {
            SSLSocket tls = (SSLSocket) ((SSLSocketFactory) SSLSocketFactory.getDefault()).createSocket(plain, at.host(), at.port(), true);
            SSLParameters parameters = tls.getSSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            tls.setSSLParameters(parameters);
            return tls;
        }

        void cut() {
            Socket open = socket.get();
            if (open != null) {
                try {
                    open.close();
                } catch (IOException e) {
                    // It is of no use any more either way.
                }
            }
        }
    }
}
