/* SPDX-License-Identifier: Apache-2.0 */
/** Terminal events of operations, and what the end of each kind of operation leads to. */
@NullMarked
package io.tierlog.controller.core.result;

import org.jspecify.annotations.NullMarked;
