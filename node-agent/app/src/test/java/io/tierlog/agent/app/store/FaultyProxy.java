/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Stands between a client and a server on loopback, and goes wrong on request. Safe for use by several threads. */
public final class FaultyProxy implements AutoCloseable {
    /** What it does with bytes. */
    public enum Mode {
        PASS,
        /** Answers of the server come one byte in 100 ms, without an end in sight. */
        DRIP,
        /** Keeps connections open and passes nothing on. */
        SILENT,
        /** Closes every connection, new ones too. */
        CUT
    }

    private final ServerSocket listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    private final int server;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger broken = new AtomicInteger();
    private final AtomicLong passed = new AtomicLong();
    private final AtomicLong untilCut = new AtomicLong(Long.MAX_VALUE);
    private volatile Mode mode = Mode.PASS;

    /** @param server port on loopback */
    public FaultyProxy(int server) throws IOException {
        this.server = server;
        start(this::accept);
    }

    /** Port on loopback. */
    public int port() {
        return listener.getLocalPort();
    }

    /** From now on, for bytes that are under way too. */
    public void mode(Mode next) {
        mode = next;
        if (next == Mode.CUT) {
            closeAll();
        }
    }

    /** After so many further bytes of clients, of all connections together, it goes to CUT; 1 or more. */
    public void cutAfter(long bytes) {
        untilCut.set(bytes);
    }

    /** Connections that ended while bytes did not pass, and those that found no server. */
    public int broken() {
        return broken.get();
    }

    /** Bytes that clients have got. */
    public long passed() {
        return passed.get();
    }

    private Optional<Socket> connected() {
        try {
            return Optional.of(new Socket(InetAddress.getLoopbackAddress(), server));
        } catch (IOException e) {
            return Optional.empty(); // the server is down, and may come back
        }
    }

    private void accept() {
        try {
            while (true) {
                Socket client = listener.accept();
                Optional<Socket> behind = mode == Mode.CUT ? Optional.empty() : connected();
                if (behind.isEmpty()) {
                    broken.incrementAndGet();
                    client.close();
                    continue;
                }
                open.add(client);
                open.add(behind.get());
                start(() -> pass(client, behind.get(), false));
                start(() -> pass(behind.get(), client, true));
            }
        } catch (IOException e) {
            closeAll();
        }
    }

    private void pass(Socket from, Socket to, boolean answers) {
        byte[] bytes = new byte[1 << 16];
        try (from; to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                for (int at = 0; at < read; ) {
                    while (mode == Mode.SILENT && !from.isClosed()) {
                        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
                    }
                    boolean drips = mode == Mode.DRIP && answers;
                    int length = drips ? 1 : answers ? read - at : (int) Math.min(read - at, untilCut.get());
                    out.write(bytes, at, length);
                    at += length;
                    if (!answers && untilCut.addAndGet(-length) == 0) {
                        mode(Mode.CUT);
                        return;
                    }
                    if (answers) {
                        passed.addAndGet(length);
                    }
                    if (drips) {
                        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
                    }
                }
            }
        } catch (IOException e) {
            // One side has closed: both are closed.
        } finally {
            if (answers && mode != Mode.PASS) {
                broken.incrementAndGet();
            }
            open.remove(from);
            open.remove(to);
        }
    }

    private static void start(Runnable what) {
        Thread.ofPlatform().daemon().name("faulty-proxy").start(what);
    }

    private void closeAll() {
        for (Socket one : open) {
            try {
                one.close();
            } catch (IOException e) {
                // Closed is closed.
            }
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        closeAll();
    }
}
