/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** A server that cannot listen reports the address, the reason and the option. */
class CannotListenTest {
    private static Listener where(String host, int port) {
        return new Listener("--test-listen", new Endpoint(host, port), new ServerLimits(1 << 16, 8, 4));
    }

    private static void assertMessage(String expected, Executable opening) {
        assertEquals(expected, assertThrows(ServerException.CannotListen.class, opening).getMessage());
    }

    /** A text that looks like a number is not resolved by DNS. */
    @Test
    void anUnknownHost() {
        Listener nowhere = where("::g", 0);
        String message = "cannot serve on [::g]:0: unknown host '::g': give a name or an address of this machine; choose another --test-listen,"
                + " or port 0 for any free one";
        assertMessage(message, () -> new GrpcServer(nowhere, List.of(), 8).close());
        assertMessage(message, () -> new HttpServer(nowhere, Tokens.scoped(Optional.empty()), List.of()).close());
    }

    @Test
    void aPortInUse() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Listener there = where("127.0.0.1", taken.getLocalPort());
            String message = "cannot serve on 127.0.0.1:" + taken.getLocalPort() + ": Address already in use; choose another --test-listen,"
                    + " or port 0 for any free one";
            assertMessage(message, () -> new HttpServer(there, Tokens.scoped(Optional.empty()), List.of()).close());
            ServerException refused = assertThrows(ServerException.CannotListen.class, () -> new GrpcServer(there, List.of(), 8).close());
            assertTrue(String.valueOf(refused.getMessage()).contains("Address already in use; choose another --test-listen"), refused.getMessage());
        }
    }
}
