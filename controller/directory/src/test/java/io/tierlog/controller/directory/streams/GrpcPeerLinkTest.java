/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.directory.v1.PeerRequest;
import io.tierlog.tls.Tls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A peer that accepts connections and ends them at once, as a proxy does whose instance is away. */
class GrpcPeerLinkTest {
    private static final int ATTEMPTS = 12;

    /** By gRPC's own back-off, of 1 s times 1.6 for each attempt, the twelfth comes after some four minutes. */
    @Test
    @Timeout(60)
    void aPeerThatCannotBeReachedIsTriedAgainWhileItIsAsked() throws IOException {
        AtomicInteger attempts = new AtomicInteger();
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                GrpcPeerLink link = new GrpcPeerLink(Optional.empty(), Tls.NONE, 1_000, 20)) {
            Thread.ofVirtual().start(() -> endAll(server, attempts));
            Owners.Peer peer = new Owners.Peer("127.0.0.1", server.getLocalPort());
            while (attempts.get() < ATTEMPTS) {
                assertThrows(CompletionException.class, () -> link.ask(peer, PeerRequest.getDefaultInstance()).join());
                LockSupport.parkNanos(10_000_000);
            }
        }
    }

    private static void endAll(ServerSocket server, AtomicInteger attempts) {
        while (!server.isClosed()) {
            try (Socket _ = server.accept()) {
                attempts.incrementAndGet();
            } catch (IOException e) {
                return;
            }
        }
    }
}
