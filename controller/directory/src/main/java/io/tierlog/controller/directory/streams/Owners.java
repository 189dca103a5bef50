/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import java.util.List;
import java.util.Optional;

/**
 * Which instances have a partition, as the group last agreed.
 *
 * @param active the one that keeps it
 * @param standbys those that keep a copy
 */
public record Owners(Optional<Peer> active, List<Peer> standbys) {
    /** No owner is known. */
    public static final Owners NONE = new Owners(Optional.empty(), List.of());

    /** An instance, by the address of its gRPC. */
    public record Peer(String host, int port) {
        @Override
        public String toString() {
            return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
        }
    }

    /** Finds the owners of partitions. */
    @FunctionalInterface
    public interface Register {
        /** The owners of a partition; none while the group is being formed. */
        Owners of(int partition);
    }
}
