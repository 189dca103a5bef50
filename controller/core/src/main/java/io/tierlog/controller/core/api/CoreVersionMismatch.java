/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.api;

/** A later version of decide and evolve decides the partition. Fatal: run a controller of that version. */
public final class CoreVersionMismatch extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Version on record for the partition. */
    private final int recorded;

    public CoreVersionMismatch(int partition, int recorded, int own) {
        super("Partition " + partition + " is decided by core version " + recorded + ", and this controller decides by version " + own
                + ": run a build of core version " + recorded + " or later, without a lower core.version");
        this.recorded = recorded;
    }

    /** Version on record for the partition. */
    public int recorded() {
        return recorded;
    }
}
