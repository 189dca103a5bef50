/* SPDX-License-Identifier: Apache-2.0 */
/** When sealed blocks are written to the host or where their marks say, and from there to the store. */
@NullMarked
package io.tierlog.controller.core.writeback;

import org.jspecify.annotations.NullMarked;
