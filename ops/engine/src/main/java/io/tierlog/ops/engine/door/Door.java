/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.door;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioDomainSocketChannel;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/** Where the agent of a node is found. */
public sealed interface Door {
    /** What the address of a Unix socket begins with. */
    String UNIX = "unix:";

    /** No agent: the engine has its device cache and nothing else. */
    record None() implements Door {}

    /** An agent that listens on TCP, plain text: engine and agent are on one node. */
    record Address(String host, int port) implements Door {}

    /** An agent that listens on a Unix socket at {@code path}, absolute. */
    record UnixSocket(Path path) implements Door {}

    /** An agent reached in some other way; {@code channels} makes a fresh channel for every attempt to open a session. */
    record Custom(String name, Supplier<ManagedChannel> channels) implements Door {}

    /** Parses {@code host:port} or {@code unix:path}. */
    static Door parse(String text) {
        if (text.startsWith(UNIX) && text.length() > UNIX.length()) {
            return new UnixSocket(Path.of(text.substring(UNIX.length())).toAbsolutePath());
        }
        int colon = text.lastIndexOf(':');
        try {
            int port = Integer.parseInt(text.substring(colon + 1));
            if (colon > 0 && port > 0 && port < 65_536) {
                return new Address(text.substring(0, colon), port);
            }
        } catch (NumberFormatException e) {
            // Said below, with all that is expected.
        }
        throw new IllegalArgumentException("expected HOST:PORT or unix:PATH, found " + text);
    }

    /** A fresh channel to {@code door}. */
    private static ManagedChannel open(Door door) {
        return switch (door) {
            case None none -> throw new IllegalStateException("there is no agent behind " + none);
            case Address address -> NettyChannelBuilder.forAddress(address.host, address.port)
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
