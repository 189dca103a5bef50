/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;


/** What an agent that reads from others, and lends to them, acts through. */
public record PeerPorts(PeerFinder finder, PeerTransfers transfers, PeerReplies replies) {}
