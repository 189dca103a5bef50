/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status;
import io.tierlog.engine.v1.LoadReply;
import io.tierlog.engine.v1.LoadRequest;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which calls wait for other ranks, and which are refused at once. */
class RankedCallsTest {
    private static final LoadRequest CALL = LoadRequest.newBuilder().setSession("gpu0-1").setRequest("r").build();

    private final RankedCalls calls = new RankedCalls(1);
    private final TestCaller<LoadReply> first = new TestCaller<>();
    private final TestCaller<LoadReply> last = new TestCaller<>();

    /** Otherwise a caller without a session could have the agent keep a thousand calls of 8 MiB for as long as it likes. */
    @Test
    void aCallOfAnUnknownSessionIsRefusedAndNotKept() {
        assertTrue(calls.called(CALL, 0, 2, false, first).isEmpty());
        assertEquals(0, calls.size());
        assertEquals(Status.Code.NOT_FOUND, Status.fromThrowable(first.errors.getFirst()).getCode());
    }

    /** The first rank must not wait for a call that its session cannot have any more. */
    @Test
    void ranksWhoseSessionEndsWhileTheyWaitAreAnsweredWithTheLastOne() {
        assertTrue(calls.called(CALL, 0, 2, true, first).isEmpty());
        assertEquals(1, calls.size());
        Optional<?> all = calls.called(CALL, 1, 2, false, last);
        assertTrue(all.isPresent());
        assertEquals(0, calls.size());
    }
}
