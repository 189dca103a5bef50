/* SPDX-License-Identifier: Apache-2.0 */
/** Reads across nodes: the door where others read what this agent lends, and the way to theirs. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.app.peer;
