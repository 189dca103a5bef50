/* SPDX-License-Identifier: Apache-2.0 */
/** The pages of the HOST tier: their states, what is in them, who holds them, and which of them may go. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.page;
