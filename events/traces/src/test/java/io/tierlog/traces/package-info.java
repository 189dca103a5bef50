/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of traces, and the collector that they receive spans with. */
@NullMarked
package io.tierlog.traces;

import org.jspecify.annotations.NullMarked;
