/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.decode;

/**
 * One batch of LMCache's events.
 *
 * @param content what it says; malformed when its events cannot be read
 * @param from where it begins in its payload
 * @param to where it ends, exclusive
 */
public record CacheBatch(Origin origin, Decoded content, int from, int to) {
    /**
     * Who has sent it, and which one it is.
     *
     * @param instance name of the sender
     * @param incarnation number of its process, which rises with each start
     * @param seq number of the batch in the process, from 1
     * @param dropped events that the process has lost before they got into a batch, count
     */
    public record Origin(String instance, long incarnation, long seq, long dropped) {}
}
