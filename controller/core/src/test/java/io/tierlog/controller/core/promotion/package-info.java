/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of promotions. */
@NullMarked
package io.tierlog.controller.core.promotion;

import org.jspecify.annotations.NullMarked;
