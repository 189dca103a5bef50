/* SPDX-License-Identifier: Apache-2.0 */
/** The directory beside Redis: the same batches, the same run, the same machine, each server in a process of its own. */
@NullMarked
package io.tierlog.ops.bench.directory;

import org.jspecify.annotations.NullMarked;
