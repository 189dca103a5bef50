/* SPDX-License-Identifier: Apache-2.0 */
/** What the agent knows of the copies on its disk: which there are, where each is in its life, and who relies on it. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.disk;
