/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

/** Where recorded events come from. One thread at a time. */
interface LogSupply {
    /** What it is, for people. */
    String name();

    /** A log with so many requests after its warm-up; a log that was recorded has those that it has. */
    RecordedLog log(int requests);
}
