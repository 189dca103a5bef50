/* SPDX-License-Identifier: Apache-2.0 */
/** Reads between nodes: which node to read from, and what this node has leased to readers. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.peer;
