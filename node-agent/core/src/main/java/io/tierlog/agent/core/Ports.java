/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.port.DeviceCopies;
import io.tierlog.agent.core.port.DiskTransfers;
import io.tierlog.agent.core.port.EngineReplies;
import io.tierlog.agent.core.port.EventSink;
import io.tierlog.agent.core.port.StoreTransfers;

/** What an agent core acts through; nothing is ever asked of the disk when the node has no disk tier. */
public record Ports(DeviceCopies device, StoreTransfers store, DiskTransfers disk, EngineReplies engines, EventSink events) {}
