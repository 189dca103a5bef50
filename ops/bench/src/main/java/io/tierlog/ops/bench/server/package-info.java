/* SPDX-License-Identifier: Apache-2.0 */
/** Servers that are no part of Tierlog, each as a process of its own on a free port of this machine. */
@NullMarked
package io.tierlog.ops.bench.server;

import org.jspecify.annotations.NullMarked;
