/* SPDX-License-Identifier: Apache-2.0 */
/** Where the KV of a block lies in an engine's memory: one formula per layer, checked once when the engine registers. No device, no files. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.layout;
