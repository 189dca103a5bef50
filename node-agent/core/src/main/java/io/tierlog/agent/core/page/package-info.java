/* SPDX-License-Identifier: Apache-2.0 */
/** The pages of the HOST tier: their states, their content, their pins, and which of them may be evicted. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.page;
