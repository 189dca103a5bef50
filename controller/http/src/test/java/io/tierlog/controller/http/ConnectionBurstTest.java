/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.tierlog.tls.Tls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Connections that all come at once, more than the server keeps. */
class ConnectionBurstTest {
    private static final int CLIENTS = 60;
    private static final int EACH = 30;
    private static final int ROUNDS = 4;
    private static final long PATIENCE_NS = 60_000_000_000L;

    /** Such a burst closed the port for as long as the process ran: each later connection was refused, that of a look at /health too. */
    @Test
    void aBurstOfConnectionsDoesNotCloseThePort() throws Exception {
        try (StatusServer status = new StatusServer("--status", new Endpoint("127.0.0.1", 0), Tls.NONE, new PrometheusRegistry(),
                () -> new StatusServer.Report(true, JsonNodeFactory.instance.objectNode()))) {
            InetSocketAddress port = new InetSocketAddress(InetAddress.getLoopbackAddress(), status.port());
            for (int round = 0; round < ROUNDS; round++) {
                Queue<Socket> held = new ConcurrentLinkedQueue<>();
                List<Thread> clients = new ArrayList<>();
                for (int i = 0; i < CLIENTS; i++) {
                    clients.add(Thread.ofPlatform().start(() -> {
                        for (int j = 0; j < EACH; j++) {
                            connect(port).ifPresent(held::add);
                        }
                    }));
                }
                for (Thread thread : clients) {
                    thread.join();
                }
                assertEquals('H', firstByteOfHealth(port), "round " + round);
                for (Socket socket : held) {
                    socket.close();
                }
            }
        }
    }

    private static Optional<Socket> connect(InetSocketAddress port) {
        Socket socket = new Socket();
        try {
            socket.connect(port, 200);
            return Optional.of(socket);
        } catch (IOException e) {
            return Optional.empty(); // the server may refuse what is too much
        }
    }

    /** Asks until there is an answer: what the burst left in the kernel's queue goes first. */
    private static int firstByteOfHealth(InetSocketAddress port) {
        long endNs = System.nanoTime() + PATIENCE_NS;
        IOException last = new IOException("never asked");
        while (System.nanoTime() < endNs) {
            try (Socket socket = new Socket()) {
                socket.connect(port, 2_000);
                socket.setSoTimeout(2_000);
                socket.getOutputStream().write("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                int first = socket.getInputStream().read();
                if (first >= 0) {
                    return first;
                }
            } catch (IOException e) {
                last = e;
                LockSupport.parkNanos(50_000_000);
            }
        }
        throw new AssertionError("/health does not answer: " + last, last);
    }
}
