/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.engine;

import java.util.List;

/** What the engine receives from the agent: answers to calls, and notices. */
public sealed interface AgentReply {
    /** Blocks from {@code firstIndex} on may be loaded under {@code lease}. */
    record Offer(int firstIndex, List<String> sources, String reason, String lease) {}

    /** The answer to a submission. */
    record Offered(long call, Offer offer) implements AgentReply {}

    /** The answer to a submission: a notice follows. */
    record Waiting(long call) implements AgentReply {}

    /** A waiting attempt may go on. */
    record Ready(AgentLink.Attempt attempt, Offer offer) implements AgentReply {}

    /** The agent releases these pages of an attempt, or of the session when the request is empty. */
    record Released(AgentLink.Attempt attempt, List<Integer> pages) implements AgentReply {}

    /** The first {@code blocks} of a load have arrived. */
    record Loaded(long call, int blocks, String reason) implements AgentReply {}

    /** The answer to a read, a flag for each block. */
    record Read(long call, List<String> reasons) implements AgentReply {}

    /** The answer to a reservation. */
    record Reserved(long call, String lease) implements AgentReply {}

    /** The answer to a save: the reason for each block, COMPLETED when it is on the host. */
    record Saved(long call, List<String> reasons) implements AgentReply {}

    /** The answer to an exist call: for each block whether it is on the host, on the disk, and the answer of the store. */
    record Found(long call, List<String> where) implements AgentReply {}

    /** Any other answer. */
    record Done(long call) implements AgentReply {}

    /** A refusal. */
    record Refused(long call, String refusal, String detail) implements AgentReply {}

    /** The session is over. */
    record SessionLost(String session) implements AgentReply {}
}
