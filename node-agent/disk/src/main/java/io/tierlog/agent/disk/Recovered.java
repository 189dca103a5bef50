/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

/**
 * What the start of a disk tier has found so far. Immutable.
 *
 * @param segmentsDone segments looked through
 * @param segments of them in all
 * @param blocks held
 * @param dropped headers of blocks that were dropped
 * @param damaged places where a header should have been and was not whole; what was there is not held
 * @param superseded blocks of which a higher generation is held, or the same one at a later place
 * @param readErrors reads that failed; what was there is not held
 * @param cutBytes bytes behind the last whole record of a segment, given back
 */
public record Recovered(
        int segmentsDone, int segments, int blocks, long dropped, long damaged, long superseded, long readErrors, long cutBytes) {

    /** Receives the progress of a start after every segment, in the thread that opens the tier. */
    public interface Progress {
        void at(Recovered sofar);
    }
}
