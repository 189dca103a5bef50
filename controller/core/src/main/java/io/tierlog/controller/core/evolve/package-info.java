/* SPDX-License-Identifier: Apache-2.0 */
/** How each fact changes the tables: the only writers. Knows no decision; decisions do not know it either. */
@NullMarked
package io.tierlog.controller.core.evolve;

import org.jspecify.annotations.NullMarked;
