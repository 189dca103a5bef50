/* SPDX-License-Identifier: Apache-2.0 */
/** Blocks that come from the disk to the host ahead of requests. */
@NullMarked
package io.tierlog.controller.core.promotion;

import org.jspecify.annotations.NullMarked;
