/* SPDX-License-Identifier: Apache-2.0 */
/** Traces: the W3C trace context as records of the log carry it, and the export of spans over OTLP. The cores know nothing of it. */
@NullMarked
package io.tierlog.traces;

import org.jspecify.annotations.NullMarked;
