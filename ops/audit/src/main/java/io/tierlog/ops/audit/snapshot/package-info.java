/* SPDX-License-Identifier: Apache-2.0 */
/** Snapshots of a log: images of the tables of each partition at an offset, in a directory; what may be trimmed before one. */
@NullMarked
package io.tierlog.ops.audit.snapshot;

import org.jspecify.annotations.NullMarked;
