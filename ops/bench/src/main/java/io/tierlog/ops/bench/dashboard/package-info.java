/* SPDX-License-Identifier: Apache-2.0 */
/** The benchmark of the live page: a log of busy nodes at a rate, a page on one core, and browsers that follow it. */
@NullMarked
package io.tierlog.ops.bench.dashboard;

import org.jspecify.annotations.NullMarked;
