/* SPDX-License-Identifier: Apache-2.0 */
/** A stretch of a log as tables in Avro files, for the tools that analysts use. */
@NullMarked
package io.tierlog.ops.audit.export;

import org.jspecify.annotations.NullMarked;
