/* SPDX-License-Identifier: Apache-2.0 */
/** What every benchmark reports: rows, their text and JSON, and errors that end it. */
@NullMarked
package io.tierlog.ops.bench.report;

import org.jspecify.annotations.NullMarked;
