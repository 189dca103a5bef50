/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.fold;

import org.jspecify.annotations.Nullable;

/** A row as it is kept: key and value; null deletes it. */
@SuppressWarnings("ArrayRecordComponent")
public record Row(byte[] key, byte @Nullable [] value) {}
