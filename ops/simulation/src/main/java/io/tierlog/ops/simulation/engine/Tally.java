/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.engine;

import java.util.ArrayList;
import java.util.List;

/** Counts the reads and the writes whose bytes were compared, and keeps those that were wrong. For one thread. */
public final class Tally {
    private static final int KEPT = 16;

    private long reads;
    private long writes;
    private long wrong;
    private final List<String> findings = new ArrayList<>();

    /** One read was compared. */
    public void checked(boolean right, String what) {
        reads++;
        note(right, what);
    }

    /** One write was compared. */
    public void written(boolean right, String what) {
        writes++;
        note(right, what);
    }

    private void note(boolean right, String what) {
        if (!right) {
            wrong++;
            if (findings.size() < KEPT) {
                findings.add(what);
            }
        }
    }

    /** Reads compared. */
    public long reads() {
        return reads;
    }

    /** Writes compared. */
    public long writes() {
        return writes;
    }

    /** Reads and writes whose bytes were not those that belong under the key. */
    public long wrong() {
        return wrong;
    }

    /** What was wrong, the first {@value #KEPT}. */
    public List<String> findings() {
        return List.copyOf(findings);
    }
}
