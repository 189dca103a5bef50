/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.event;

/** Asks something of a node, on behalf of an operator, a router or another node: it applies whatever incarnation the node has. */
public sealed interface NodeRequest extends Event
        permits MarksClearRequested, NodeDrainRequested, PromotionRequested, PeerReadRequested, PeerReadCancelled {}
