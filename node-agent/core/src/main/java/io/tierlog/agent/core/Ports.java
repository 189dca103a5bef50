/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core;

import io.tierlog.agent.core.port.DeviceCopies;
import io.tierlog.agent.core.port.EngineReplies;
import io.tierlog.agent.core.port.EventSink;
import io.tierlog.agent.core.port.StoreTransfers;

/** What an agent core acts through. */
public record Ports(DeviceCopies device, StoreTransfers store, EngineReplies engines, EventSink events) {}
