/* SPDX-License-Identifier: Apache-2.0 */
/** The log as a bridge writes and reads it: a foreign node for each engine instance. */
@NullMarked
package io.tierlog.agent.bridge.log;

import org.jspecify.annotations.NullMarked;
