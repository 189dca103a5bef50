/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of placements. */
@NullMarked
package io.tierlog.controller.core.placement;

import org.jspecify.annotations.NullMarked;
