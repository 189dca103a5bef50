/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of migrations. */
@NullMarked
package io.tierlog.controller.core.migration;

import org.jspecify.annotations.NullMarked;
