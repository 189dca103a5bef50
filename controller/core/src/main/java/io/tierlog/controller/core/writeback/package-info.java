/* SPDX-License-Identifier: Apache-2.0 */
/** When sealed blocks are written to the host or to the targets of their marks, and from there to the store. */
@NullMarked
package io.tierlog.controller.core.writeback;

import org.jspecify.annotations.NullMarked;
