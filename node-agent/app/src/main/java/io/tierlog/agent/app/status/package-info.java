/* SPDX-License-Identifier: Apache-2.0 */
/** What an agent shows of itself: metrics and health. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.app.status;
