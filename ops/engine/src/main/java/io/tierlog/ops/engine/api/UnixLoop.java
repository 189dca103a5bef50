/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.api;

import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.nio.NioEventLoopGroup;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;

/** The one thread behind all Unix sockets of this process, from the first of them on; a daemon, so that it keeps nothing alive. */
final class UnixLoop {
    static final EventLoopGroup GROUP = new NioEventLoopGroup(1, new DefaultThreadFactory("engine-unix", true));

    private UnixLoop() {}
}
