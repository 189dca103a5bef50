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

/** A door that cannot be opened says on which address, why, and which option names another. */
class CannotListenTest {
    private static Listener where(String host, int port) {
        return new Listener("--door", new Endpoint(host, port), new ServerLimits(1 << 16, 8, 4));
    }

    private static void assertSays(String expected, Executable opening) {
        assertEquals(expected, assertThrows(ServerException.CannotListen.class, opening).getMessage());
    }

    /** No name server is asked about what stands for a number. */
    @Test
    void anAddressOfNoMachine() {
        Listener nowhere = where("::g", 0);
        String says = "cannot serve on [::g]:0: no machine is called '::g': listen on a name or an address of this one; choose another --door,"
                + " or port 0 for any free one";
        assertSays(says, () -> new GrpcServer(nowhere, List.of(), 8).close());
        assertSays(says, () -> new HttpServer(nowhere, Tokens.scoped(Optional.empty()), List.of()).close());
    }

    @Test
    void aPortInUse() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Listener there = where("127.0.0.1", taken.getLocalPort());
            String says = "cannot serve on 127.0.0.1:" + taken.getLocalPort() + ": Address already in use; choose another --door,"
                    + " or port 0 for any free one";
            assertSays(says, () -> new HttpServer(there, Tokens.scoped(Optional.empty()), List.of()).close());
            ServerException refused = assertThrows(ServerException.CannotListen.class, () -> new GrpcServer(there, List.of(), 8).close());
            assertTrue(String.valueOf(refused.getMessage()).contains("Address already in use; choose another --door"), refused.getMessage());
        }
    }
}
