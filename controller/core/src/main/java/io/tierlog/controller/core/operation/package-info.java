/* SPDX-License-Identifier: Apache-2.0 */
/** How operations are issued, and what their terminal events have in common. */
@NullMarked
package io.tierlog.controller.core.operation;

import org.jspecify.annotations.NullMarked;
