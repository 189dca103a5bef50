/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of write-backs. */
@NullMarked
package io.tierlog.controller.core.writeback;

import org.jspecify.annotations.NullMarked;
