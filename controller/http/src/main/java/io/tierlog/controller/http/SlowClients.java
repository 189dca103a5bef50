/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.util.Comparator;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.ssl.SslConnection;

/**
 * Closes connections whose client is too slow. At the limit of connections it closes the one that has been without a request for longest, so
 * clients that only hold connections keep none from others. Jetty's idle time-out alone does neither: a client that sends one byte now
 * and then is never idle.
 *
 * <pre>
 *   no request    for requestMs:  the client sent nothing, or not the whole head of a request  -> close
 *   in a request  for responseMs: the client does not take the response                        -> close
 * </pre>
 *
 * <p>{@link HttpServer} bounds the time of the body itself. Safe for use by several threads.
 */
final class SlowClients implements Connection.Listener {
    private final ServerLimits.Clients limits;
    private final ConcurrentMap<Connection, State> connections = new ConcurrentHashMap<>();

    /**
     * What a connection does.
     *
     * @param inRequest whether a handler has a request of it
     * @param sinceNs since when, by {@link System#nanoTime}
     */
    private record State(boolean inRequest, long sinceNs) {
        static State of(boolean inRequest) {
            return new State(inRequest, System.nanoTime());
        }
    }

    SlowClients(ServerLimits.Clients limits) {
        this.limits = limits;
    }

    @Override
    public void onOpened(Connection connection) {
        // Of the two connections that TLS makes of one socket, requests belong to the inner one.
        if (!(connection instanceof SslConnection)) {
            connections.put(connection, State.of(false));
            if (connections.size() > limits.connections()) {
                connections.entrySet().stream()
                        .filter(one -> !one.getValue().inRequest() && one.getKey() != connection)
                        .min(Comparator.comparingLong(one -> one.getValue().sinceNs() - System.nanoTime()))
                        .ifPresent(one -> {
                            connections.remove(one.getKey());
                            one.getKey().getEndPoint().close();
                        });
            }
        }
    }

    @Override
    public void onClosed(Connection connection) {
        connections.remove(connection);
    }

    /** A handler has a request of this connection. */
    void begins(Connection connection) {
        connections.replace(connection, State.of(true));
    }

    /** The response is sent. */
    void ends(Connection connection) {
        connections.replace(connection, State.of(false));
    }

    /** Closes the slow ones. */
    void sweep() {
        long nowNs = System.nanoTime();
        connections.forEach((connection, state) -> {
            long mostMs = state.inRequest() ? limits.responseMs() : limits.requestMs();
            if (nowNs - state.sinceNs() > TimeUnit.MILLISECONDS.toNanos(mostMs)) {
                connection.getEndPoint().close();
            }
        });
    }
}
