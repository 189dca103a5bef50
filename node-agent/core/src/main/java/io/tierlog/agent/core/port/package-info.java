/* SPDX-License-Identifier: Apache-2.0 */
/** What the agent core asks of the outside. Every call starts something and returns at once; what came of it arrives as an AgentInput. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.port;
