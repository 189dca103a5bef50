/* SPDX-License-Identifier: Apache-2.0 */
/** Tierlog's placements as the events of an engine: what is sent, its numbers, the sockets. */
@NullMarked
package io.tierlog.agent.bridge.publish;

import org.jspecify.annotations.NullMarked;
