/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.engine;

import java.util.ArrayList;
import java.util.List;

/** Counts the reads whose bytes were compared, and keeps those that were wrong. For one thread. */
public final class Tally {
    private static final int KEPT = 16;

    private long checked;
    private long wrong;
    private final List<String> findings = new ArrayList<>();

    /** One read was compared. */
    public void checked(boolean right, String what) {
        checked++;
        if (!right) {
            wrong++;
            if (findings.size() < KEPT) {
                findings.add(what);
            }
        }
    }

    /** Reads compared. */
    public long reads() {
        return checked;
    }

    /** Reads whose bytes were not those written under the key. */
    public long wrong() {
        return wrong;
    }

    /** What was wrong, the first {@value #KEPT}. */
    public List<String> findings() {
        return List.copyOf(findings);
    }
}
