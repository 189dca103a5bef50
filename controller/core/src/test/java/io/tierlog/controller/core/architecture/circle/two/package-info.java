/* SPDX-License-Identifier: Apache-2.0 */
/** Half of a deliberate circle. */
@NullMarked
package io.tierlog.controller.core.architecture.circle.two;

import org.jspecify.annotations.NullMarked;
