/* SPDX-License-Identifier: Apache-2.0 */
/** Ends by the monotonic clock that comes in with every input. Knows no clock itself. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.time;
