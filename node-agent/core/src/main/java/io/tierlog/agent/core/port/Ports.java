/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import java.util.Optional;

/**
 * What an agent core acts through; nothing is ever asked of the disk when the node has no disk tier.
 *
 * @param peers empty for an agent that neither reads from other nodes nor is asked by them
 */
public record Ports(
        DeviceCopies device, StoreTransfers store, DiskTransfers disk, EngineReplies engines, EventSink events, Optional<PeerPorts> peers) {
    /** Of an agent without peers. */
    public Ports(DeviceCopies device, StoreTransfers store, DiskTransfers disk, EngineReplies engines, EventSink events) {
        this(device, store, disk, engines, events, Optional.empty());
    }
}
