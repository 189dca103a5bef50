/* SPDX-License-Identifier: Apache-2.0 */
/** Commands of the controller in the order of the log, and how each kind begins its operation. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.command;
