/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

/** What happens to a part of the cluster, and how it is undone. */
enum Fault {
    /** Its process ends as by {@code kill -9}, and is started again with its files. */
    KILLED {
        @Override
        void strike(Part part) {
            part.kill();
        }

        @Override
        void heal(Part part) {
            part.startAgain();
        }
    },
    /** Its processes stand still, with open connections, and go on. */
    FROZEN {
        @Override
        void strike(Part part) {
            part.freeze();
        }

        @Override
        void heal(Part part) {
            part.thaw();
        }
    },
    /** It has no network, in both directions, and gets it back. */
    CUT_OFF {
        @Override
        void strike(Part part) {
            part.cutOff();
        }

        @Override
        void heal(Part part) {
            part.connect();
        }
    },
    /** It can send and receives nothing. */
    DEAF {
        @Override
        void strike(Part part) {
            part.deafen(true);
        }

        @Override
        void heal(Part part) {
            part.deafen(false);
        }
    },
    /** What it sends goes out at 64 KiB a second. */
    SLOW {
        @Override
        void strike(Part part) {
            part.slowDown(true);
        }

        @Override
        void heal(Part part) {
            part.slowDown(false);
        }
    },
    /** Its disk has no free byte; a part that ends because of it is started again once there are some. */
    DISK_FULL {
        @Override
        void strike(Part part) {
            part.fillDisk();
        }

        @Override
        void heal(Part part) {
            part.freeDisk();
        }
    },
    /** Its process ends as by {@code kill -9}, and is started again with an empty disk. */
    DISK_LOST {
        @Override
        void strike(Part part) {
            part.kill();
        }

        @Override
        void heal(Part part) {
            part.startEmpty();
        }
    },
    /** It is asked to end, has 20 s for it, and is started again. */
    RESTARTED {
        @Override
        void strike(Part part) {
            part.end();
        }

        @Override
        void heal(Part part) {
            part.startAgain();
        }
    };

    abstract void strike(Part part);

    /** Undoes it; a part that was started again may not be ready yet, since it can wait for others that were struck. */
    abstract void heal(Part part);
}
