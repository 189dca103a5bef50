/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Address of the engine API: a port of loopback, a Unix socket, or both.
 *
 * @param port 0 to 65535, 0 for any free one; empty for no TCP
 * @param socket path of the socket, which only the user of this process may open; empty for none
 */
public record EngineAddress(OptionalInt port, Optional<Path> socket) {
    public EngineAddress {
        if (port.isEmpty() && socket.isEmpty()) {
            throw new IllegalArgumentException("an engine API has a port or a socket, or both");
        }
        if (port.isPresent() && (port.getAsInt() < 0 || port.getAsInt() > 65_535)) {
            throw new IllegalArgumentException("engine API port " + port.getAsInt() + " is not between 0 and 65535");
        }
    }

    /** A port of loopback alone. */
    public static EngineAddress tcp(int port) {
        return new EngineAddress(OptionalInt.of(port), Optional.empty());
    }

    /** A Unix socket alone. */
    public static EngineAddress unix(Path socket) {
        return new EngineAddress(OptionalInt.empty(), Optional.of(socket));
    }
}
