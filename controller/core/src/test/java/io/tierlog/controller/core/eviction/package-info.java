/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of eviction. */
@NullMarked
package io.tierlog.controller.core.eviction;

import org.jspecify.annotations.NullMarked;
