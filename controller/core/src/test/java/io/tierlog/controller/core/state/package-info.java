/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the readers of rows. */
@NullMarked
package io.tierlog.controller.core.state;

import org.jspecify.annotations.NullMarked;
