/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A connection that can be cut: forwards a port of its own to another one on loopback. */
public final class Cable implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final int target;

    public Cable(int target) throws IOException {
        this.target = target;
        Thread.ofPlatform().daemon().start(this::accept);
    }

    public int port() {
        return listener.getLocalPort();
    }

    /** Closes every connection without a word. */
    public void cut() throws IOException {
        listener.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    @Override
    public void close() throws IOException {
        cut();
    }

    private void accept() {
        try {
            while (true) {
                Socket near = listener.accept();
                Socket far = new Socket(InetAddress.getLoopbackAddress(), target);
                sockets.add(near);
                sockets.add(far);
                Thread.ofPlatform().daemon().start(() -> pump(near, far));
                Thread.ofPlatform().daemon().start(() -> pump(far, near));
            }
        } catch (IOException e) {
            // The listener was closed: no more connections.
        }
    }

    private static void pump(Socket from, Socket to) {
        try (from; to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // Cut.
        }
    }
}
