/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Ports for tests that name one before they listen on it. */
final class Ports {
    private static final int ATTEMPTS = 100;

    private Ports() {}

    /** One that is free, and below those that the system gives to sockets that name none: no publisher gets it meanwhile. */
    static int free() throws IOException {
        for (int i = 0; i < ATTEMPTS; i++) {
            int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
            try (ServerSocket socket = new ServerSocket(port)) {
                return socket.getLocalPort();
            } catch (BindException e) {
                // Another process listens there.
            }
        }
        throw new IOException("no port from 20000 to 32000 is free in " + ATTEMPTS + " attempts");
    }
}
