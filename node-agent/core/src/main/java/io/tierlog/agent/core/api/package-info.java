/* SPDX-License-Identifier: Apache-2.0 */
/** What goes into the agent core and what it shows of itself: inputs, limits, phases, status and counters. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.api;
