/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.app.memory.HostPool;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.api.AgentInput.PeerReadCalled;
import io.tierlog.agent.core.api.AgentInput.PeerReadFinished;
import io.tierlog.agent.core.api.AgentInput.PeerUnitEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.port.PeerReplies.LeasedPage;
import io.tierlog.agent.core.port.PeerTransfers.PeerHolder;
import io.tierlog.agent.core.port.PeerTransfers.PeerPage;
import io.tierlog.controller.http.GrpcConnections;
import io.tierlog.ops.process.Certificates;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PeerReadReason;
import io.tierlog.tls.Tls;
import io.tierlog.tls.TlsFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Both sides of the peer API over real sockets, with a test that plays the holder's core. Blocks of 10,000 bytes in chunks of 4,096. */
class PeerServerTest {
    private static final int BLOCK = 10_000;
    private static final PeerLimits LIMITS = new PeerLimits(4_096, 2, 4, 16, 2_000, 1_000, 8L * BLOCK, 2, 4, PeerLimits.UNBOUNDED);
    private static final PeerToken TOKEN = PeerToken.of("0123456789abcdef");

    private final HostPool from = HostPool.allocate(8, BLOCK);
    private final HostPool to = HostPool.allocate(8, BLOCK);
    private final PeerGate gate = new PeerGate();
    private final BlockingQueue<PeerReadCalled> asked = new LinkedBlockingQueue<>();
    private final BlockingQueue<PeerReadFinished> over = new LinkedBlockingQueue<>();
    private final BlockingQueue<PeerUnitEnded> ended = new LinkedBlockingQueue<>();
    private final List<AutoCloseable> opened = new ArrayList<>();

    @TempDir
    Path directory;

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
        from.close();
        to.close();
    }

    private PeerServer server(Optional<PeerToken> token, PeerLimits limits, Predicate<AgentInput> calls) {
        return server(token, Tls.NONE, limits, calls);
    }

    private PeerServer server(Optional<PeerToken> token, Tls tls, PeerLimits limits, Predicate<AgentInput> calls) {
        PeerServer.Wiring wiring = new PeerServer.Wiring(
                PeerAddress.parse("127.0.0.1:0"), token, tls, from, calls, input -> over.add((PeerReadFinished) input), gate);
        PeerServer server = new PeerServer("a", wiring, limits);
        opened.add(server);
        return server.start();
    }

    private PeerServer server() {
        return server(Optional.of(TOKEN), LIMITS, input -> asked.add((PeerReadCalled) input));
    }

    private PeerClient client(Optional<PeerToken> token) {
        return client(token, LIMITS);
    }

    private PeerClient client(Optional<PeerToken> token, PeerLimits limits) {
        Consumer<AgentInput> completions = input -> ended.add((PeerUnitEnded) input);
        PeerClient client = new PeerClient("b", to, new PeerClient.Access(token, Tls.NONE), limits, completions);
        opened.add(client);
        return client;
    }

    private PeerClient client(Tls tls) {
        PeerClient client = new PeerClient(
                "b", to, new PeerClient.Access(Optional.of(TOKEN), tls), LIMITS, input -> ended.add((PeerUnitEnded) input));
        opened.add(client);
        return client;
    }

    @Test
    void withTlsOnlyAReaderOfTheSameClusterReads() throws Exception {
        if (!Certificates.isPossible()) {
            System.out.println("NOT RUN: no openssl, which makes the certificates of this test");
        }
        assumeTrue(Certificates.isPossible());
        Certificates ours = Certificates.in(directory.resolve("ours"));
        Optional<Path> node = Optional.of(ours.certificate("node", "IP:127.0.0.1"));
        Optional<Path> authority = Optional.of(ours.authority());
        Tls tls = Tls.of(new TlsFiles(node, Optional.empty(), authority, authority, TlsFiles.Version.TLS13, Set.of(), Optional.empty()));
        PeerServer server = server(Optional.of(TOKEN), tls, LIMITS, input -> asked.add((PeerReadCalled) input));
        read(client(tls), server, 1, 1);
        server.send(take(asked).call(), leased(1));
        assertEquals(List.of(OperationReason.COMPLETED), reasons(take(ended)));
        assertArrayEquals(bytes(from, 0), bytes(to, 7));
        read(client(Tls.NONE), server, 2, 1);
        assertNotEquals(List.of(OperationReason.COMPLETED), reasons(take(ended)));
        read(client(Tls.of(TlsFiles.ofClient(authority, Optional.empty(), Optional.empty()))), server, 3, 1);
        assertNotEquals(List.of(OperationReason.COMPLETED), reasons(take(ended)));
        assertTrue(asked.isEmpty(), "the core was asked by a stranger");
    }

    @Test
    void oneConnectionMoreThanItTakesClosesAnIdleOne() throws Exception {
        PeerServer server = server();
        List<Socket> idle = new ArrayList<>();
        for (int i = 0; i <= GrpcConnections.MAX_CONNECTIONS; i++) {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
            opened.add(socket);
            idle.add(socket);
        }
        idle.getFirst().setSoTimeout(7_000); // below the 10 s that gRPC gives a silent client
        assertTrue(idle.getFirst().getInputStream().readAllBytes().length < 1_024, "the settings of the server, and then the end");
    }

    private static Bytes key(int i) {
        return Bytes.wrapUnshared(ByteBuffer.allocate(8).putLong(i).array());
    }

    private void read(PeerClient client, PeerServer server, long unit, int blocks) {
        List<PeerPage> pages = new ArrayList<>();
        for (int i = 0; i < blocks; i++) {
            pages.add(new PeerPage(key(i), 7 - i));
        }
        client.read(unit, new PeerHolder("a", "127.0.0.1:" + server.port(), "g"), "m", pages);
    }

    private List<LeasedPage> leased(int blocks) {
        List<LeasedPage> pages = new ArrayList<>();
        for (int i = 0; i < blocks; i++) {
            ByteBuffer page = from.buffer(i);
            for (int at = 0; at < BLOCK; at++) {
                page.put(at, (byte) (at * 31 + i * 7));
            }
            pages.add(new LeasedPage(key(i), i, from.crc32c(i)));
        }
        return pages;
    }

    private static <T> T take(BlockingQueue<T> queue) throws InterruptedException {
        @Nullable T one = queue.poll(20, TimeUnit.SECONDS);
        if (one == null) {
            throw new AssertionError("nothing came within 20 s");
        }
        return one;
    }

    private static byte[] bytes(HostPool pool, int page) {
        byte[] bytes = new byte[BLOCK];
        pool.buffer(page).get(bytes);
        return bytes;
    }

    private static List<OperationReason> reasons(PeerUnitEnded unit) {
        return unit.results().stream().map(UnitResult::reason).toList();
    }

    @Test
    void sharedBlocksArrive() throws Exception {
        PeerServer server = server();
        read(client(Optional.of(TOKEN)), server, 1, 3);
        PeerReadCalled in = take(asked);
        assertEquals(List.of("g", "b", "m"), List.of(in.grant(), in.asker(), in.namespace()));
        assertEquals(List.of(key(0), key(1), key(2)), in.keys());
        List<LeasedPage> pages = leased(3);
        server.send(in.call(), pages);

        PeerUnitEnded unit = take(ended);
        assertEquals(pages.stream().map(LeasedPage::crc32c).toList(), unit.results().stream().map(UnitResult::crc32c).toList());
        for (int i = 0; i < 3; i++) {
            assertEquals(BlockStatus.ARRIVED, unit.results().get(i).status());
            assertArrayEquals(bytes(from, i), bytes(to, 7 - i));
        }
        assertEquals(new PeerReadFinished(in.call(), 3, 3L * BLOCK, PeerReadReason.COMPLETED, List.of()), take(over));
    }

    @Test
    void aReaderAsksAgainUntilItsGrantIsKnown() throws Exception {
        PeerServer server = server();
        read(client(Optional.of(TOKEN)), server, 1, 1);
        server.retry(take(asked).call(), 1);
        server.retry(take(asked).call(), 1);
        server.send(take(asked).call(), leased(1));
        assertEquals(List.of(OperationReason.COMPLETED), reasons(take(ended)));
    }

    /** The grant never comes: 200 ms later the unit ends, though a read may take minutes, and no request follows. */
    @Test
    void aReaderDoesNotAskForEver() throws Exception {
        PeerLimits patient = new PeerLimits(4_096, 2, 4, 16, 300_000, 200, 8L * BLOCK, 2, 4, PeerLimits.UNBOUNDED);
        PeerServer[] server = new PeerServer[1];
        server[0] = server(Optional.of(TOKEN), LIMITS, input -> {
            server[0].retry(((PeerReadCalled) input).call(), 50);
            return true;
        });
        read(client(Optional.of(TOKEN), patient), server[0], 1, 2);
        assertEquals(OperationReason.NOT_SERVING, reasons(take(ended)).getFirst());
    }

    /**
     * 30,000 bytes at 30,000 a second: the last chunk goes when those before it have had their time, some 900 ms. Two reads share the rate.
     * The time runs from when both have come, so that a slow connection does not pass for a pace.
     */
    @Test
    void noMoreIsSentInASecondThanTheLimit() throws Exception {
        PeerServer server = server(Optional.of(TOKEN), LIMITS.withBytesPerSecond(30_000), input -> asked.add((PeerReadCalled) input));
        PeerClient client = client(Optional.of(TOKEN));
        client.read(1, new PeerHolder("a", "127.0.0.1:" + server.port(), "g"), "m", List.of(new PeerPage(key(0), 7)));
        client.read(2, new PeerHolder("a", "127.0.0.1:" + server.port(), "g"), "m", List.of(new PeerPage(key(1), 6), new PeerPage(key(2), 5)));
        List<PeerReadCalled> reads = List.of(take(asked), take(asked));
        long beganNs = System.nanoTime();
        reads.forEach(in -> server.send(in.call(), leased(3).stream().filter(page -> in.keys().contains(page.key())).toList()));
        assertTrue(reasons(take(ended)).stream().allMatch(OperationReason.COMPLETED::equals));
        assertTrue(reasons(take(ended)).stream().allMatch(OperationReason.COMPLETED::equals));
        long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs);
        assertTrue(tookMs >= 800, () -> tookMs + " ms");
        assertEquals(30_000, client.bytesReceived());
    }

    @Test
    void whatIsRefusedIsNotServed() throws Exception {
        PeerServer server = server();
        read(client(Optional.of(TOKEN)), server, 1, 2);
        server.refuse(take(asked).call(), PeerReadReason.BUSY);
        assertEquals(List.of(OperationReason.NOT_SERVING, OperationReason.NOT_SERVING), reasons(take(ended)));
    }

    @Test
    void callsWithoutTheTokenAreRefused() throws Exception {
        PeerServer server = server();
        read(client(Optional.empty()), server, 1, 1);
        assertEquals(List.of(OperationReason.IO), reasons(take(ended)));
        read(client(Optional.of(PeerToken.of("fedcba9876543210"))), server, 2, 1);
        assertEquals(List.of(OperationReason.IO), reasons(take(ended)));
        assertEquals(0, asked.size());
    }

    /** The page does not hold what the log says: nothing of it counts, and the core receives which. */
    @Test
    void aWrongPageIsReportedToTheHolder() throws Exception {
        PeerServer server = server();
        read(client(Optional.of(TOKEN)), server, 1, 2);
        PeerReadCalled in = take(asked);
        List<LeasedPage> pages = leased(2);
        from.buffer(1).put(5_000, (byte) 99);
        server.send(in.call(), pages);
        PeerReadFinished told = take(over);
        assertEquals(List.of(key(1)), told.wrong());
        assertEquals(1, told.sentBlocks());
        assertEquals(List.of(OperationReason.COMPLETED, OperationReason.IO), reasons(take(ended)));
    }

    /** The holder dies after the first block: that one counts, the others do not, and nothing is read or written afterwards. */
    @Test
    void aHolderThatDiesInBetweenIsAnError() throws Exception {
        gate.closeAfter(4);
        PeerServer server = server();
        read(client(Optional.of(TOKEN)), server, 1, 2);
        PeerReadCalled in = take(asked);
        server.send(in.call(), leased(2));
        Eventually.await("four chunks are sent", () -> gate.waiting() == 1);
        Eventually.await("the first block is there", () -> java.util.Arrays.equals(bytes(from, 0), bytes(to, 7)));
        server.close();
        assertEquals(List.of(OperationReason.COMPLETED, OperationReason.IO), reasons(take(ended)));
        assertEquals(PeerReadReason.CANCELLED, take(over).reason());
        byte[] torn = bytes(to, 6);
        gate.open();
        assertArrayEquals(torn, bytes(to, 6));
    }

    @Test
    void aReaderThatGoesAwayGivesThePagesBack() throws Exception {
        gate.closeAfter(1);
        PeerServer server = server();
        PeerClient client = client(Optional.of(TOKEN));
        read(client, server, 1, 2);
        server.send(take(asked).call(), leased(2));
        Eventually.await("a chunk is sent", () -> gate.waiting() == 1);
        client.close();
        assertEquals(List.of(OperationReason.CANCELLED, OperationReason.CANCELLED), reasons(take(ended)));
        assertEquals(PeerReadReason.CANCELLED, take(over).reason());
        assertEquals(0, client.bytesInFlight());
    }

    /** A reader that takes nothing keeps its pages no longer than a read may take. */
    @Test
    void aReadHasItsTime() throws Exception {
        gate.closeAfter(1);
        PeerServer server = server();
        PeerLimits patient = new PeerLimits(4_096, 2, 4, 16, 300_000, 1_000, 8L * BLOCK, 2, 4, PeerLimits.UNBOUNDED);
        read(client(Optional.of(TOKEN), patient), server, 1, 1);
        server.send(take(asked).call(), leased(1));
        assertEquals(PeerReadReason.EXPIRED, take(over).reason());
        assertEquals(List.of(OperationReason.IO), reasons(take(ended)));
    }

    /** 8 blocks may be on their way: 6 are, 3 more are refused. */
    @Test
    void whatIsReadAtOnceIsBounded() throws Exception {
        PeerServer server = server();
        PeerClient client = client(Optional.of(TOKEN));
        read(client, server, 1, 6);
        PeerReadCalled first = take(asked);
        read(client, server, 2, 3);
        PeerUnitEnded refused = take(ended);
        assertEquals(2, refused.unit());
        assertEquals(OperationReason.QUEUE_FULL, reasons(refused).getFirst());
        server.send(first.call(), leased(6));
        assertEquals(1, take(ended).unit());
        assertEquals(0, client.bytesInFlight());
    }

    @Test
    void callsAreBounded() throws Exception {
        PeerServer server = server();
        PeerClient client = client(Optional.of(TOKEN));
        for (int i = 0; i < 4; i++) {
            read(client, server, i, 1);
            take(asked);
        }
        read(client, server, 9, 1);
        PeerUnitEnded refused = take(ended);
        assertEquals(9, refused.unit());
        assertEquals(OperationReason.IO, reasons(refused).getFirst());
        PeerClient other = client(Optional.of(TOKEN));
        List<PeerPage> none = List.of();
        other.read(10, new PeerHolder("a", "127.0.0.1:" + server.port(), "g"), "m", none);
        assertEquals(10, take(ended).unit());
    }

    @Test
    void aNodeThatIsNotThereIsAnError() throws Exception {
        PeerServer server = server();
        int port = server.port();
        server.close();
        client(Optional.of(TOKEN)).read(1, new PeerHolder("a", "127.0.0.1:" + port, "g"), "m", List.of(new PeerPage(key(0), 0)));
        assertEquals(List.of(OperationReason.IO), reasons(take(ended)));
        client(Optional.of(TOKEN)).read(2, new PeerHolder("a", "nonsense", "g"), "m", List.of(new PeerPage(key(0), 0)));
        assertEquals(List.of(OperationReason.IO), reasons(take(ended)));
    }

    @Test
    void anApiForOtherMachinesNeedsAToken() {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> new PeerServer.Wiring(
                PeerAddress.parse("0.0.0.0:0"), Optional.empty(), Tls.NONE, from, input -> true, input -> {}, gate));
        assertTrue(String.valueOf(refused.getMessage()).contains("--peer-token-file"), refused.getMessage());
    }

    @Test
    void tokensAndAddressesAreChecked() throws IOException {
        Path file = directory.resolve("token");
        Files.writeString(file, "short\n");
        assertThrows(IllegalArgumentException.class, () -> PeerToken.read(file));
        assertThrows(IllegalArgumentException.class, () -> PeerToken.read(directory.resolve("none")));
        Files.writeString(file, "0123456789abcdef\n");
        assertTrue(PeerToken.read(file).isShownBy("Bearer 0123456789abcdef"));
        assertTrue(!TOKEN.isShownBy(null) && !TOKEN.isShownBy("Bearer ") && !TOKEN.isShownBy("0123456789abcdef"));
        assertEquals(new PeerAddress("::1", 7), PeerAddress.parse("[::1]:7"));
        assertEquals("[::1]:7", new PeerAddress("::1", 7).toString());
        for (String wrong : List.of("7171", "a:", ":7", "a:b", "::1:7", "a:70000")) {
            assertThrows(IllegalArgumentException.class, () -> PeerAddress.parse(wrong), wrong);
        }
    }
}
