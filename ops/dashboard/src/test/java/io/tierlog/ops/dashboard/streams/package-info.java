/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.ops.dashboard.streams;

import org.jspecify.annotations.NullMarked;
