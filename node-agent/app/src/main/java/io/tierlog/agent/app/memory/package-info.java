/* SPDX-License-Identifier: Apache-2.0 */
/** Memory of a node: the agent's host pool, the engine's device memory, and the streams that copy between them. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.app.memory;
