/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import io.tierlog.ops.engine.door.Door;

/**
 * A node with one engine.
 *
 * @param name name of the node, as in the log
 * @param door where its agent is found
 */
public record EngineNode(String name, Door door) {}
