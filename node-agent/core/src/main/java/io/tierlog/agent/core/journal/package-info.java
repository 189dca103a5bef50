/* SPDX-License-Identifier: Apache-2.0 */
/** What the agent remembers of commands and operations, so that each is run once and a repeat gets the same answer. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.journal;
