/* SPDX-License-Identifier: Apache-2.0 */
/** What the controller holds true: every fact, in tierlog.decisions. State is the fold of these. */
@org.jspecify.annotations.NullMarked
package io.tierlog.schemas.decision;
