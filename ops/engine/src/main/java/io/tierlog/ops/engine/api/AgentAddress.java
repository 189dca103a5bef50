/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.api;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioDomainSocketChannel;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/** The address of the agent of a node. */
public sealed interface AgentAddress {
    /** Prefix of the address of a Unix socket. */
    String UNIX = "unix:";

    /** No agent: the engine has only its device cache. */
    record None() implements AgentAddress {}

    /** An agent that listens on TCP, plain text: engine and agent are on one node. */
    record HostPort(String host, int port) implements AgentAddress {}

    /** An agent that listens on a Unix socket at {@code path}, absolute. */
    record UnixSocket(Path path) implements AgentAddress {}

    /** An agent behind another channel; {@code channels} creates a fresh one for every attempt to open a session. */
    record Custom(String name, Supplier<ManagedChannel> channels) implements AgentAddress {}

    /** Parses {@code host:port} or {@code unix:path}. */
    static AgentAddress parse(String text) {
        if (text.startsWith(UNIX) && text.length() > UNIX.length()) {
            return new UnixSocket(Path.of(text.substring(UNIX.length())).toAbsolutePath());
        }
        int colon = text.lastIndexOf(':');
        try {
            int port = Integer.parseInt(text.substring(colon + 1));
            if (colon > 0 && port > 0 && port < 65_536) {
                return new HostPort(text.substring(0, colon), port);
            }
        } catch (NumberFormatException e) {
            // Reported below, with all that is expected.
        }
        throw new IllegalArgumentException("expected HOST:PORT or unix:PATH, found " + text);
    }

    /** A fresh channel to {@code address}. */
    private static ManagedChannel open(AgentAddress address) {
        return switch (address) {
            case None none -> throw new IllegalStateException("there is no agent behind " + none);
            case HostPort tcp -> NettyChannelBuilder.forAddress(tcp.host, tcp.port)
                    .usePlaintext()
                    .executor(Executors.newVirtualThreadPerTaskExecutor())
                    .build();
            case UnixSocket socket -> NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(socket.path))
                    .channelType(NioDomainSocketChannel.class, UnixDomainSocketAddress.class)
                    .eventLoopGroup(UnixLoop.GROUP)
                    .overrideAuthority("localhost")
                    .usePlaintext()
                    .executor(Executors.newVirtualThreadPerTaskExecutor())
                    .build();
            case Custom custom -> custom.channels.get();
        };
    }

    /** A fresh channel; the caller shuts it down. */
    default ManagedChannel open() {
        return open(this);
    }
}
