/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The DISK tier: blocks in append-only segments of a local disk, an index of them in memory that is rebuilt from the headers at start, and the
 * port to the files with a real, a simulated and a faulty implementation.
 */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.disk;
