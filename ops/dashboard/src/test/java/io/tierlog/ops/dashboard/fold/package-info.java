/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.ops.dashboard.fold;

import org.jspecify.annotations.NullMarked;
