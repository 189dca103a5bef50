/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.threads.ThreadFaults;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DnsSourcesTest {
    private static final DnsName NAME = DnsName.parse("tcp://engines.svc:5557 replay=tcp://{address}:6557 model=m ranks=2");

    private static final int ERROR = -1;

    /** What the resolver answers next; it waits for that. */
    private final LinkedTransferQueue<List<Integer>> answers = new LinkedTransferQueue<>();

    private InetAddress[] resolve(String host) throws UnknownHostException {
        assertEquals("engines.svc", host);
        try {
            List<Integer> last = answers.take();
            if (last.contains(ERROR)) {
                throw new StackOverflowError("in the resolver");
            }
            if (last.isEmpty()) {
                throw new UnknownHostException(host);
            }
            InetAddress[] addresses = new InetAddress[last.size()];
            for (int i = 0; i < addresses.length; i++) {
                addresses[i] = InetAddress.getByAddress(new byte[] {10, 0, (byte) (last.get(i) >> 8), (byte) (int) last.get(i)});
            }
            return addresses;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void answer(Integer... last) throws InterruptedException {
        assertEquals(true, answers.tryTransfer(List.of(last), 60, TimeUnit.SECONDS));
    }

    /** Waits until the last answer has been dealt with. */
    private void awaitNextLookUp() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!answers.hasWaitingConsumer() && System.nanoTime() < deadline) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static List<String> changed(DnsSources sources) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        Optional<List<SourceSpec>> now = sources.changed();
        while (now.isEmpty() && System.nanoTime() < deadline) {
            LockSupport.parkNanos(1_000_000);
            now = sources.changed();
        }
        return now.orElseThrow().stream().map(each -> each.endpoint() + " " + each.replay().orElse("") + " " + each.rank()).toList();
    }

    @Test
    void eachAddressIsASourceAndAFailureChangesNothing() throws Exception {
        try (DnsSources sources = new DnsSources(List.of(NAME), this::resolve, 1)) {
            assertEquals(Optional.empty(), sources.changed());
            answer(7);
            assertEquals(List.of("tcp://10.0.0.7:5557 tcp://10.0.0.7:6557 0", "tcp://10.0.0.7:5558 tcp://10.0.0.7:6558 1"), changed(sources));
            answer();
            awaitNextLookUp();
            assertEquals(Optional.empty(), sources.changed());
            answer(8, 7, 7);
            assertEquals(List.of("tcp://10.0.0.7:5557 tcp://10.0.0.7:6557 0", "tcp://10.0.0.7:5558 tcp://10.0.0.7:6558 1",
                    "tcp://10.0.0.8:5557 tcp://10.0.0.8:6557 0", "tcp://10.0.0.8:5558 tcp://10.0.0.8:6558 1"), changed(sources));
            answer(8);
            assertEquals(2, changed(sources).size());
        }
    }

    @Test
    void anErrorOfTheResolverEndsNothing() throws Exception {
        try (DnsSources sources = new DnsSources(List.of(NAME), this::resolve, 1)) {
            answer(ERROR);
            answer(7);
            assertEquals(2, changed(sources).size());
        } finally {
            ThreadFaults.ofProcess().forget();
        }
    }

    @Test
    void aNameHasABound() throws Exception {
        try (DnsSources sources = new DnsSources(List.of(DnsName.parse("tcp://engines.svc:5557")), this::resolve, 1)) {
            answer(IntStream.range(0, 2_000).boxed().toArray(Integer[]::new));
            assertEquals(1_024, changed(sources).size());
        }
    }

    @Test
    void whatIsNoNameIsRefused() {
        for (String line : List.of("engines:5557", "tcp://*:5557", "tcp://engines", "tcp://engines:5557 size=3",
                "tcp://engines:5557 replay=http://engines")) {
            assertThrows(IllegalArgumentException.class, () -> DnsName.parse(line), line);
        }
    }
}
