/* SPDX-License-Identifier: Apache-2.0 */
/** Requests promotions of blocks that are only on a disk. No answer depends on it. */
@NullMarked
package io.tierlog.controller.directory.probe;

import org.jspecify.annotations.NullMarked;
