/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Messages of gRPC that are bytes, as they are. Without state. */
final class RawMessages implements MethodDescriptor.Marshaller<byte[]> {
    /** A method of such messages. */
    static MethodDescriptor<byte[], byte[]> method(String name, MethodDescriptor.MethodType type) {
        return MethodDescriptor.<byte[], byte[]>newBuilder().setType(type).setFullMethodName(name).setRequestMarshaller(new RawMessages())
                .setResponseMarshaller(new RawMessages()).build();
    }

    @Override
    public InputStream stream(byte[] value) {
        return new ByteArrayInputStream(value);
    }

    @Override
    public byte[] parse(InputStream stream) {
        try {
            return stream.readAllBytes();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
