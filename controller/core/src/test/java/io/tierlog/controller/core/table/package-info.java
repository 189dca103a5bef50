/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the tables. */
@NullMarked
package io.tierlog.controller.core.table;

import org.jspecify.annotations.NullMarked;
