/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.nio.NioEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.tierlog.agent.app.memory.EnginePool;
import io.tierlog.agent.core.api.AgentInput;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceFault.Kind;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.engine.v1.EngineServiceGrpc;
import io.tierlog.engine.v1.HealthRequest;
import io.tierlog.tls.Tls;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The engine API on a Unix socket: who may open it, what lies in its way, and what is left of it. */
class EngineSocketTest {
    @TempDir
    Path directory;

    private final List<AgentInput> inputs = new CopyOnWriteArrayList<>();
    private final List<EngineServer> servers = new ArrayList<>();

    @AfterEach
    void stop() {
        servers.forEach(EngineServer::close);
    }

    private Path path() {
        return directory.resolve("engine.sock");
    }

    private EngineServer server(EngineAddress address) {
        EngineServer.Pools none = new EngineServer.Pools() {
            @Override
            public EnginePool open(List<KvLayout> layouts, List<MemoryHandle> handles) throws DeviceFault {
                throw new DeviceFault(Kind.UNSUPPORTED, 0, "there is no device");
            }

            @Override
            public void attach(EnginePool pool) {
                throw new IllegalStateException("there is no pool");
            }
        };
        EngineServer server = new EngineServer(
                address, Tls.NONE,
                new EngineServer.Wiring("n1", new AgreedLayouts(Layouts.opaque(100, 16), 1), inputs::add, inputs::add, none,
                        () -> new EngineApiHealth(true, 3, 5, 7, 1, 2)),
                EngineApiLimits.DEFAULTS);
        servers.add(server);
        return server;
    }

    private long incarnationThrough(Path socket) throws Exception {
        NioEventLoopGroup loop = new NioEventLoopGroup(1);
        ManagedChannel channel = NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(socket))
                .channelType(NioDomainSocketChannel.class, UnixDomainSocketAddress.class)
                .eventLoopGroup(loop)
                .overrideAuthority("localhost")
                .usePlaintext()
                .build();
        try {
            return EngineServiceGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(20, TimeUnit.SECONDS)
                    .health(HealthRequest.getDefaultInstance())
                    .getIncarnation();
        } finally {
            channel.shutdownNow().awaitTermination(20, TimeUnit.SECONDS);
            var _ = loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
        }
    }

    private List<String> left() throws IOException {
        try (var files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    /** Agents in containers have the same process id, and may share the directory of their sockets. */
    @Test
    void agentsWithTheSameProcessIdThatStartTogetherKeepTheirSockets() throws Exception {
        try (SocketFile a = new SocketFile(directory.resolve("a"));
                SocketFile b = new SocketFile(directory.resolve("b"));
                ServerSocketChannel channelOfA = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                ServerSocketChannel channelOfB = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            channelOfA.bind(a.bindAt());
            channelOfB.bind(b.bindAt());
            a.publish();
            b.publish();
            for (String name : List.of("a", "b")) {
                try (SocketChannel caller = SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve(name)))) {
                    assertTrue(caller.isConnected(), name);
                }
            }
        }
    }

    @Test
    void enginesConnectThroughTheSocketThatOnlyTheOwnerMayOpen() throws Exception {
        EngineServer server = server(EngineAddress.unix(path()));
        server.start();
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(path(), LinkOption.NOFOLLOW_LINKS)));
        assertEquals(List.of("engine.sock"), left(), "nothing but the socket");
        assertEquals(3, incarnationThrough(path()));
        assertEquals(-1, server.port());
        server.close();
        assertEquals(List.of(), left());
    }

    @Test
    void aServerMayHavePortAndSocket() throws Exception {
        EngineServer server = server(new EngineAddress(OptionalInt.of(0), Optional.of(path())));
        server.start();
        assertTrue(server.port() > 0);
        assertEquals(3, incarnationThrough(path()));
    }

    @Test
    void aSocketOfADeadProcessIsReplaced() throws Exception {
        try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            dead.bind(UnixDomainSocketAddress.of(path()));
        }
        assertTrue(Files.exists(path()), "Java leaves the file");
        server(EngineAddress.unix(path())).start();
        assertEquals(3, incarnationThrough(path()));
    }

    @Test
    void aSocketOfARunningProcessIsReportedAndStays() throws Exception {
        server(EngineAddress.unix(path())).start();
        EngineServer second = server(EngineAddress.unix(path()));
        String why = String.valueOf(assertThrows(EngineServerException.class, second::start).getMessage());
        assertTrue(why.contains("another process listens on " + path()), why);
        second.close();
        assertEquals(3, incarnationThrough(path()));
    }

    @Test
    void aFileThatIsNotASocketIsReportedAndStays() throws Exception {
        Files.writeString(path(), "a letter");
        String why = String.valueOf(assertThrows(EngineServerException.class, server(EngineAddress.unix(path()))::start).getMessage());
        assertTrue(why.contains("is no socket"), why);
        assertEquals("a letter", Files.readString(path()));
    }

    @Test
    void anImpossiblePathIsReported() {
        Path tooLong = directory.resolve("x".repeat(100));
        String length = String.valueOf(assertThrows(EngineServerException.class, server(EngineAddress.unix(tooLong))::start).getMessage());
        assertTrue(length.contains("at most 107"), length);
        Path nowhere = directory.resolve("none").resolve("engine");
        String missing = String.valueOf(assertThrows(EngineServerException.class, server(EngineAddress.unix(nowhere))::start).getMessage());
        assertTrue(missing.contains("no such directory"), missing);
    }

    @Test
    void aSocketThatWasReplacedMeanwhileIsNotTakenAway() throws Exception {
        EngineServer server = server(EngineAddress.unix(path()));
        server.start();
        Files.delete(path());
        try (ServerSocketChannel other = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            other.bind(UnixDomainSocketAddress.of(path()));
            server.close();
            assertTrue(Files.exists(path()));
        }
    }

    @Test
    void aServerWithoutAnAddressIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new EngineAddress(OptionalInt.empty(), Optional.empty()));
        assertThrows(IllegalArgumentException.class, () -> EngineAddress.tcp(65_536));
    }
}
