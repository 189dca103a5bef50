/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.ApplicationProtocolConfig;
import io.grpc.netty.shaded.io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.grpc.netty.shaded.io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.grpc.netty.shaded.io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.grpc.netty.shaded.io.netty.handler.ssl.ClientAuth;
import io.grpc.netty.shaded.io.netty.handler.ssl.IdentityCipherSuiteFilter;
import io.grpc.netty.shaded.io.netty.handler.ssl.JdkSslContext;
import io.tierlog.tls.Tls;

/** Gives gRPC the TLS of the process: the JDK's, with the context that HTTP has. Static and without state. */
public final class GrpcTls {
    private static final String HTTP_2 = "h2";

    private GrpcTls() {}

    /** Has a server speak TLS, where the process has a certificate. */
    public static NettyServerBuilder serve(NettyServerBuilder builder, Tls tls) {
        return tls.serves() ? builder.sslContext(context(tls, false)) : builder;
    }

    /** Has a channel speak TLS, where the process does, and plain text otherwise. */
    public static NettyChannelBuilder call(NettyChannelBuilder builder, Tls tls) {
        return tls.calls() ? builder.sslContext(context(tls, true)) : builder.usePlaintext();
    }

    /** The same of a channel to another node, or to another instance of a directory. */
    public static NettyChannelBuilder callPeer(NettyChannelBuilder builder, Tls tls) {
        tls.peerName().ifPresent(builder::overrideAuthority);
        return call(builder, tls);
    }

    private static JdkSslContext context(Tls tls, boolean client) {
        ApplicationProtocolConfig http2 = new ApplicationProtocolConfig(
                Protocol.ALPN, SelectorFailureBehavior.NO_ADVERTISE, SelectedListenerFailureBehavior.ACCEPT, HTTP_2);
        ClientAuth clients = !client && tls.asksClients() ? ClientAuth.REQUIRE : ClientAuth.NONE;
        return new JdkSslContext(tls.context(), client, null, IdentityCipherSuiteFilter.INSTANCE, http2, clients, tls.protocols(), false);
    }
}
