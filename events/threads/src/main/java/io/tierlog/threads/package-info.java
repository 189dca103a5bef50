/* SPDX-License-Identifier: Apache-2.0 */
/** Threads that do not end in silence: what a thread throws is logged, counted and shown, and the thread goes on. Needs the JDK alone. */
@NullMarked
package io.tierlog.threads;

import org.jspecify.annotations.NullMarked;
