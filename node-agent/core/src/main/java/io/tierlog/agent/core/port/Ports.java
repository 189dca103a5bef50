/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import java.util.Optional;

/**
 * The ports of an agent core. The disk port is not called when the node has no disk tier.
 *
 * @param peers empty for an agent that neither reads from other nodes nor serves their reads
 * @param watch sees every unit
 */
public record Ports(
        DeviceCopies device, StoreTransfers store, DiskTransfers disk, EngineReplies engines, EventSink events, Optional<PeerPorts> peers,
        UnitWatch watch) {
    /** Unwatched. */
    public Ports(
            DeviceCopies device, StoreTransfers store, DiskTransfers disk, EngineReplies engines, EventSink events, Optional<PeerPorts> peers) {
        this(device, store, disk, engines, events, peers, UnitWatch.NONE);
    }

    /** Of an agent without peers. */
    public Ports(DeviceCopies device, StoreTransfers store, DiskTransfers disk, EngineReplies engines, EventSink events) {
        this(device, store, disk, engines, events, Optional.empty());
    }
}
