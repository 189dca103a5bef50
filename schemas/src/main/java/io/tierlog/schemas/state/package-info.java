/* SPDX-License-Identifier: Apache-2.0 */
/** Rows of the controller's state: what it folds the decisions into. Only the controller reads them. */
@org.jspecify.annotations.NullMarked
package io.tierlog.schemas.state;
