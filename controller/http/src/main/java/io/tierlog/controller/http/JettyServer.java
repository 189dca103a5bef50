/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.threads.Supervised;
import io.tierlog.threads.ThreadFaults;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.NetworkConnectionLimit;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One HTTP port, served by Jetty: the socket, TLS, connections and slow clients, each bounded by the server's own {@link ServerLimits}. Requests go
 * to
 * an {@link Exchange}, each on a virtual thread, so an exchange may block. Closing waits {@value #STOP_MS} ms for requests in progress.
 */
final class JettyServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(JettyServer.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int BACKLOG = 64;
    private static final int THREADS = 5;
    /**
     * A thread of its own accepts. Without one the selector does, and Jetty 12.1 closes the server's socket for ever when the limit of connections is
     * reached and left within one round of it: the key of the paused socket is cancelled, but not gone yet, when the socket is registered again.
     */
    private static final int ACCEPTORS = 1;
    private static final long STOP_MS = 1_000;
    private static final long SWEEP_MS = 1_000;

    private final Server server;
    private final ServerConnector connector;
    private final SlowClients slow;
    private final ExecutorService requests;
    private final long sweepMs;
    private final int port;

    /** Answers requests. Safe for use by several threads. */
    @FunctionalInterface
    interface Exchange {
        /** Answers one request with {@link #send} or through the response's stream; may block. */
        void answer(Request request, Response response) throws IOException;
    }

    /**
     * Listens at once.
     *
     * @param name of its threads
     * @throws ServerException when the address is taken or not of this machine
     */
    JettyServer(Listener where, String name, Exchange exchange) {
        ServerLimits.Clients clients = where.limits().clients();
        slow = new SlowClients(clients);
        sweepMs = Math.clamp(clients.requestMs() / 2, 1, SWEEP_MS);
        requests = Executors.newThreadPerTaskExecutor(Supervised.tasks(name + "-request"));
        QueuedThreadPool threads = new QueuedThreadPool(THREADS, 1);
        threads.setName(name);
        threads.setDaemon(true);
        threads.setReservedThreads(0);
        threads.setVirtualThreadsExecutor(requests);
        server = new Server(threads);
        server.setStopTimeout(STOP_MS);
        connector = connector(where, new HttpConnectionFactory(http(clients)));
        connector.setIdleTimeout(clients.requestMs());
        connector.addEventListener(slow);
        server.addConnector(connector);
        // Above the limit at which SlowClients closes one, since a connection is accepted before it is seen there.
        server.addBean(new NetworkConnectionLimit(clients.connections() + BACKLOG, server));
        server.setHandler(new GracefulHandler(new ExchangeHandler(exchange)));
        server.setErrorHandler(new ProblemErrors());
        try {
            connector.open(bound(where.endpoint().toSocketAddress()));
            server.start();
        } catch (Exception e) {
            close();
            throw new ServerException.CannotListen(where.option(), where.endpoint(), e);
        }
        port = connector.getLocalPort();
        scheduleSweep();
    }

    private ServerConnector connector(Listener where, HttpConnectionFactory http) {
        if (!where.tls().serves()) {
            return new ServerConnector(server, ACCEPTORS, 1, http);
        }
        SslContextFactory.Server tls = new SslContextFactory.Server();
        tls.setSslContext(where.tls().context());
        tls.setIncludeProtocols(where.tls().protocols());
        tls.setNeedClientAuth(where.tls().asksClients());
        return new ServerConnector(server, ACCEPTORS, 1, new SslConnectionFactory(tls, http.getProtocol()), http);
    }

    private static HttpConfiguration http(ServerLimits.Clients clients) {
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setRequestHeaderSize(clients.headerBytes());
        // Routes match the raw path segment by segment, and no path names a file.
        http.setUriCompliance(UriCompliance.UNSAFE);
        return http;
    }

    private static ServerSocketChannel bound(SocketAddress address) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open();
        try {
            return channel.bind(address, BACKLOG);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private void scheduleSweep() {
        connector.getScheduler().schedule(() -> {
            try {
                slow.sweep();
            } catch (RuntimeException | Error e) {
                ThreadFaults.ofProcess().met("http-sweep", e);
            }
            if (connector.isRunning()) {
                scheduleSweep();
            }
        }, sweepMs, TimeUnit.MILLISECONDS);
    }

    /** The port it listens on. */
    int port() {
        return port;
    }

    @Override
    public void close() {
        try {
            server.stop();
        } catch (Exception e) {
            LOG.warn("the HTTP server did not stop cleanly", e);
        }
        requests.shutdownNow();
    }

    /** The client has taken a part of a long response: its time for a response begins again. */
    void taken(Request request) {
        slow.begins(request.getConnectionMetaData().getConnection());
    }

    /** Sends a whole response; returns when the transport has it. */
    static void send(Response response, int status, String mediaType, byte[] body) throws IOException {
        response.setStatus(status);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, mediaType);
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
        Content.Sink.write(response, true, ByteBuffer.wrap(body));
    }

    /** Has the exchange answer, and reports begin and end to {@link SlowClients}. */
    private final class ExchangeHandler extends Handler.Abstract {
        private final Exchange exchange;

        ExchangeHandler(Exchange exchange) {
            this.exchange = exchange;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            Connection connection = request.getConnectionMetaData().getConnection();
            slow.begins(connection);
            Request.addCompletionListener(request, _ -> slow.ends(connection));
            // A request that waits for a decision is not idle.
            request.addIdleTimeoutListener(_ -> false);
            try {
                exchange.answer(request, response);
                callback.succeeded();
            } catch (IOException e) {
                LOG.debug("a client closed its connection, or was too slow: {}", e.toString());
                callback.failed(e);
            } catch (RuntimeException e) {
                LOG.error("{} {} failed", request.getMethod(), request.getHttpURI().getPath(), e);
                callback.failed(e);
            }
            return true;
        }
    }

    /** What Jetty itself refuses, such as headers that are too long, as problem details without any of its internals. */
    private static final class ProblemErrors extends ErrorHandler {
        @Override
        protected void generateResponse(
                Request request, Response response, int status, @Nullable String message, @Nullable Throwable cause, Callback callback)
                throws IOException {
            Problem problem = status >= 500
                    ? Problem.internal()
                    : new Problem(Problem.Kind.INVALID_REQUEST, message == null ? "the request is not valid HTTP" : message,
                            "send a request as RFC 9110 has it, with a shorter head");
            byte[] body = JSON.writeValueAsBytes(problem.toJson().put("status", status));
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, Problem.MEDIA_TYPE);
            response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
            response.write(true, ByteBuffer.wrap(body), callback);
        }
    }
}
