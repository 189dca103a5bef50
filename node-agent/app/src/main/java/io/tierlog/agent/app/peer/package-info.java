/* SPDX-License-Identifier: Apache-2.0 */
/** Reads across nodes: the API through which other nodes read blocks of this agent, and the client of theirs. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.app.peer;
