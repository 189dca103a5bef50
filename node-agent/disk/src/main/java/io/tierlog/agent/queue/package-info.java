/* SPDX-License-Identifier: Apache-2.0 */
/** Bounded work: units that are taken whole or refused, cut into pieces for a fixed number of threads. Knows no disk and no store. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.queue;
