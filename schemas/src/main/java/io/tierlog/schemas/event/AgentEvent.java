/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.event;

/** What a registered agent reports of its node: it applies when it is of the node's current incarnation and not a repeat. */
public sealed interface AgentEvent extends Event
        permits AgentStopping, AgentHeartbeat, EngineAttached, EngineDetached, RequestSubmitted, RequestPrefilled, RequestFinished,
                RequestCancelled, RequestRejected, WaitExpired, BlocksSealed, SaveRequested, BlocksEvicted, BlocksRecovered, BlocksSeenStored,
                EngineBlocksStored, EngineViewChanged, OperationStarted, PeerReadHeld, PeerReadEnded, CommandRefused, TerminalEvent {}
