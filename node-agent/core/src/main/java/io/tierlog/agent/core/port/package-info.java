/* SPDX-License-Identifier: Apache-2.0 */
/** The interfaces that the agent core acts through. Every call starts something and returns at once; the result arrives as an AgentInput. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.port;
