/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** Questions for old batches, over real sockets. */
class ReplayClientTest {
    private static final int RING = 10_000;

    private static byte[] number(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    @Test
    void anAnswerOfAWholeRingArrivesWholeWhileTheBridgeIsBusy() {
        try (ZContext context = new ZContext()) {
            ZMQ.Socket router = context.createSocket(SocketType.ROUTER);
            int port = router.bindToRandomPort("tcp://127.0.0.1");
            try (ReplayClient client = new ReplayClient(context, "tcp://127.0.0.1:" + port)) {
                client.ask(0);
                byte[] id = router.recv();
                router.recv();
                router.recv();
                byte[] payload = new byte[2_000];
                for (int seq = 0; seq <= RING; seq++) {
                    router.sendMore(id);
                    router.sendMore("");
                    router.sendMore(number(seq == RING ? -1 : seq));
                    router.send(payload);
                    if (seq % 100 == 0) {
                        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
                    }
                }
                long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
                int taken = 0;
                boolean ended = false;
                while (!ended && System.nanoTime() < deadline) {
                    Optional<ReplayClient.Answer> answer = client.receive();
                    ended = answer.filter(ReplayClient.Answer::end).isPresent();
                    taken += answer.isPresent() && !ended ? 1 : 0;
                }
                assertEquals(RING, taken);
            }
        }
    }

    @Test
    void aNameThatDoesNotResolveIsNoAnswerAndNoException() {
        try (ZContext context = new ZContext(); ReplayClient client = new ReplayClient(context, "tcp://no-such-host.invalid:5558")) {
            assertFalse(client.ask(0));
            assertEquals(Optional.empty(), client.receive());
            assertFalse(client.ask(0));
        }
    }
}
