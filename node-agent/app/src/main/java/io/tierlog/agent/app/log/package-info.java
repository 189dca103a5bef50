/* SPDX-License-Identifier: Apache-2.0 */
/** The agent's side of the log: its events out, commands in, and how a process comes to speak for its node. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.app.log;
