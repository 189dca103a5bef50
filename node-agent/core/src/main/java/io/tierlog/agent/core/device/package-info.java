/* SPDX-License-Identifier: Apache-2.0 */
/** What the agent knows of the engine's device pages, and under which names it keeps the engine from reusing them. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.device;
