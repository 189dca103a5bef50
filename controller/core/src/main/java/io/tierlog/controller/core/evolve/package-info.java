/* SPDX-License-Identifier: Apache-2.0 */
/** How each fact changes the tables: the only writers. This package does not use decide, and decide does not use it. */
@NullMarked
package io.tierlog.controller.core.evolve;

import org.jspecify.annotations.NullMarked;
