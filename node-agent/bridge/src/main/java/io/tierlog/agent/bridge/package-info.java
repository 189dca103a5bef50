/* SPDX-License-Identifier: Apache-2.0 */
/** A bridge: it listens to the events of engines and appends what they hold to the log. */
@NullMarked
package io.tierlog.agent.bridge;

import org.jspecify.annotations.NullMarked;
