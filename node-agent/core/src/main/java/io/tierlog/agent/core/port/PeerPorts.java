/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;


/** The ports of an agent that reads from other nodes, and serves reads of other nodes. */
public record PeerPorts(PeerFinder finder, PeerTransfers transfers, PeerReplies replies) {}
