/* SPDX-License-Identifier: Apache-2.0 */
/** The one thread that decides for an agent. */
@NullMarked
package io.tierlog.agent.app.loop;

import org.jspecify.annotations.NullMarked;
