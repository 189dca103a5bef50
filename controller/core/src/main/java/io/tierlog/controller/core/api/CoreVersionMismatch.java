/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.api;

/** The partition was opened by another version of decide and evolve. Fatal: run that version, or open a new log with this one. */
public final class CoreVersionMismatch extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Version that opened the partition. */
    private final int opened;

    public CoreVersionMismatch(int partition, int opened) {
        super("Partition " + partition + " was opened by core version " + opened + ", and this is version " + CoreVersion.CURRENT
                + ": run a controller of core version " + opened + ", or start a new log");
        this.opened = opened;
    }

    /** Version that opened the partition. */
    public int opened() {
        return opened;
    }
}
