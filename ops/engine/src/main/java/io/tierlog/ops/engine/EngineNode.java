/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import io.tierlog.ops.engine.api.AgentAddress;

/**
 * A node with one engine.
 *
 * @param name name of the node, as in the log
 * @param address address of its agent
 */
public record EngineNode(String name, AgentAddress address) {}
