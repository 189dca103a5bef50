/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.kafka;

import io.tierlog.ops.kafka.EmbeddedKafkaException.PortInUse;
import io.tierlog.ops.kafka.EmbeddedKafkaException.StartFailed;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.network.Selectable;
import org.apache.kafka.server.ServerSocketFactory;

/**
 * The two sockets of the broker, bound before anything of Kafka starts and handed over to it later.
 *
 * <p>So a port in use is known at once and without a half-started broker, and a free port that was picked cannot be taken by
 * another process between the picking and the start. Each socket is handed over once. Thread-safe.
 */
final class ListenSockets implements ServerSocketFactory, AutoCloseable {
    private static final int BACKLOG = 128;

    private final Map<String, ServerSocketChannel> waiting = new ConcurrentHashMap<>();
    private final int port;
    private final int controllerPort;

    private ListenSockets(String host, int wantedPort) {
        try {
            port = bind(BrokerProperties.CLIENT_LISTENER, host, wantedPort);
            controllerPort = bind(BrokerProperties.CONTROLLER_LISTENER, host, 0);
        } catch (RuntimeException failure) {
            close();
            throw failure;
        }
    }

    /**
     * Binds the client port and a free one for the controller.
     *
     * @throws PortInUse when another process listens on the wanted port
     * @throws StartFailed when the address cannot be listened on at all
     */
    static ListenSockets bind(String host, int port) {
        return new ListenSockets(host, port);
    }

    int port() {
        return port;
    }

    int controllerPort() {
        return controllerPort;
    }

    @Override
    public ServerSocketChannel openServerSocket(String listener, InetSocketAddress address, int backlog, int receiveBuffer)
            throws IOException {
        ServerSocketChannel socket = waiting.remove(listener);
        if (socket == null) {
            throw new IOException("no socket was bound for the listener " + listener);
        }
        if (receiveBuffer != Selectable.USE_DEFAULT_BUFFER_SIZE) {
            socket.setOption(StandardSocketOptions.SO_RCVBUF, receiveBuffer);
        }
        return socket;
    }

    /** Closes what was not handed over; the rest belongs to the broker. */
    @Override
    public void close() {
        waiting.forEach((listener, socket) -> {
            try {
                socket.close();
            } catch (IOException failure) {
                throw new UncheckedIOException("cannot close the socket of " + listener, failure);
            }
        });
        waiting.clear();
    }

    private int bind(String listener, String host, int wanted) {
        ServerSocketChannel socket = null;
        try {
            socket = ServerSocketChannel.open();
            waiting.put(listener, socket);
            socket.configureBlocking(false);
            socket.bind(new InetSocketAddress(host, wanted), BACKLOG);
            return ((InetSocketAddress) socket.getLocalAddress()).getPort();
        } catch (BindException failure) {
            if (String.valueOf(failure.getMessage()).contains("in use")) {
                throw new PortInUse(host, wanted, failure);
            }
            throw cannotListen(host, wanted, failure);
        } catch (Exception failure) {
            throw cannotListen(host, wanted, failure);
        }
    }

    private static StartFailed cannotListen(String host, int port, Exception failure) {
        return new StartFailed(
                "cannot listen on " + host + ":" + port + ": " + failure.getMessage(),
                "choose an address of this machine and a port above 1023",
                failure);
    }
}
