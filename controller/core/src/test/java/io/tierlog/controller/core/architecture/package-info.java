/* SPDX-License-Identifier: Apache-2.0 */
/** Rules about packages, and a small circle that breaks them. */
@NullMarked
package io.tierlog.controller.core.architecture;

import org.jspecify.annotations.NullMarked;
