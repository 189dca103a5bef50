/* SPDX-License-Identifier: Apache-2.0 */
/** Traces of requests: their context onto the events of the log, and spans of what the core does for them. */
@NullMarked
package io.tierlog.agent.app.trace;

import org.jspecify.annotations.NullMarked;
