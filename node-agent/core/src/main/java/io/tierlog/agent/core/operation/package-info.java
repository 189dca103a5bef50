/* SPDX-License-Identifier: Apache-2.0 */
/** Transfers from their first page to their terminal event: each kind, how they are cut into units, and pages of unknown outcome. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.operation;
