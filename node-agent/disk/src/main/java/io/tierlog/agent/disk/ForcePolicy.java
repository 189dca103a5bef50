/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

/**
 * When written blocks are made to survive a loss of power. Whatever the policy, blocks survive the death of the process as soon as their write
 * has ended, and a block that a loss of power has torn is found by its checksums and not served.
 */
public enum ForcePolicy {
    /** Never: the operating system writes when it likes. Right for a cache whose loss costs a computation. */
    NEVER,
    /** When a segment is full: at most the segment being filled is lost. */
    PER_SEGMENT,
    /** Before a batch is answered: reported writes survive a loss of power. Trade-off: one wait for the disk per batch. */
    PER_BATCH
}
