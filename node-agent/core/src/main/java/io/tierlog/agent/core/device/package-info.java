/* SPDX-License-Identifier: Apache-2.0 */
/** Content of the engine's device pages, and the pins that keep the engine from reusing them. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.device;
