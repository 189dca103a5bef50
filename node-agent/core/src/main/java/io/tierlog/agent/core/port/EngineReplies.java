/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.schemas.OperationReason;
import java.util.List;

/** Answers and notices to engines. Calls return at once and never fail; an engine that is gone receives nothing. */
public interface EngineReplies {
    /** Answers the Submit call {@code call} with an offer. */
    void offer(long call, Offer offer);

    /** Answers the Submit call {@code call}: a Ready notice follows. */
    void waiting(long call);

    /** Notice: a waiting attempt may continue with {@code offer}. */
    void ready(String session, String request, int attempt, Offer offer);

    /** Notice: these device pages of an ended attempt are free for the engine. */
    void released(String session, String request, int attempt, List<Integer> pages);

    /** Answers the Load call {@code call}: the first {@code loaded} blocks are on the device; {@code reason} is empty when all are. */
    void loaded(long call, int loaded, String reason);

    /** Answers the Exist call {@code call}, one answer for each key in order. */
    void found(long call, List<Whereabouts> blocks);

    /** Answers the Reserve call {@code call}: all its blocks are pinned under {@code lease} for {@code leaseMs} milliseconds. */
    void reserved(long call, String lease, long leaseMs);

    /** Answers the Reserve call {@code call}: the key at {@code position} does not serve on the host, so nothing is reserved. */
    void missing(long call, int position);

    /** Answers the Read call {@code call}, one answer for each block in order; MOVED_ON means that the waiting time was over. */
    void read(long call, List<BlockAnswer> blocks);

    /** Answers the Save call {@code call}, one answer for each block in order. */
    void saved(long call, List<BlockAnswer> blocks);

    /** Notice: blocks in these device pages, of an attempt that may have ended, have not come to the host. Pages are released all the same. */
    void failed(String session, String request, int attempt, List<Integer> pages, OperationReason reason);

    /** Answers any other call. */
    void done(long call);

    /** Answers any call with a typed refusal; {@code retry} when the same call may succeed later. */
    void refused(long call, Refusal refusal, String detail, boolean retry);

    /** What became of one block of a call: {@code reason} is COMPLETED when it is where it was wanted. */
    record BlockAnswer(boolean done, OperationReason reason) {}

    /** Where a block serves: on the host and the disk of this node, and in the store as far as the probe shows. */
    record Whereabouts(boolean host, boolean disk, StoreAnswer store) {}

    /** The store's answer for a block. */
    enum StoreAnswer {
        PRESENT,
        ABSENT,
        /** Not probed: one before it is absent. */
        UNKNOWN,
        /** The store could not be reached. */
        UNREACHABLE
    }

    /** The closed list of refusals of the engine API. */
    enum Refusal {
        UNKNOWN_SESSION,
        UNKNOWN_REQUEST,
        UNKNOWN_LEASE,
        INSTANCE_TAKEN,
        LAYOUT_MISMATCH,
        BAD_ARGUMENT,
        NOT_OFFERED,
        BUSY,
        NOT_REGISTERED,
        NOT_ON_THE_LOG,
        CLOSING
    }
}
