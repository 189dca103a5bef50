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

    /** Has a channel to a directory or another node speak TLS, where the process does, and plain text otherwise. */
    public static NettyChannelBuilder call(NettyChannelBuilder builder, Tls tls) {
        if (!tls.calls()) {
            return builder.usePlaintext();
        }
        tls.peerName().ifPresent(builder::overrideAuthority);
        return builder.sslContext(context(tls, true));
    }

    private static JdkSslContext context(Tls tls, boolean client) {
        ApplicationProtocolConfig http2 = new ApplicationProtocolConfig(
                Protocol.ALPN, SelectorFailureBehavior.NO_ADVERTISE, SelectedListenerFailureBehavior.ACCEPT, HTTP_2);
        ClientAuth clients = !client && tls.asksClients() ? ClientAuth.REQUIRE : ClientAuth.NONE;
        return new JdkSslContext(tls.context(), client, null, IdentityCipherSuiteFilter.INSTANCE, http2, clients, tls.protocols(), false);
    }
}
