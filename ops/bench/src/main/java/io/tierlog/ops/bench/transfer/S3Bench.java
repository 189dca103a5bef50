/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.server.S3MockProcess;
import io.tierlog.ops.bench.transfer.Fio.Mode;
import io.tierlog.ops.bench.transfer.TransferBenchConfig.Shape;
import java.net.URI;
import java.util.List;

/** A store in S3, on a server of this machine, against plain HTTP requests for the same pages at the same server: it has no benchmark of its own. */
final class S3Bench extends ServerStoreBench {
    private static final int OBJECT_BYTES = 8_192;

    private final PlainHttp plain;

    S3Bench(HostBlocks host, S3MockProcess server) {
        super("s3", host, location(server));
        this.plain = new PlainHttp(host, URI.create("http://127.0.0.1:" + server.port() + "/" + S3MockProcess.BUCKET + "/plain/"));
    }

    /** The client takes its credentials from the usual chain, which begins there; the server does not check them. */
    private static String location(S3MockProcess server) {
        System.setProperty("aws.accessKeyId", "bench");
        System.setProperty("aws.secretAccessKey", "bench");
        return "s3://" + S3MockProcess.BUCKET + "/bench?endpoint=http://127.0.0.1:" + server.port();
    }

    /** Most bytes on the disk at a time: of the store, and of the plain requests. */
    static long neededBytes(Shape shape) {
        return 2L * shape.blocks() * (shape.blockBytes() + OBJECT_BYTES);
    }

    @Override
    public String title() {
        return "store, S3Mock on this machine";
    }

    @Override
    List<Variant> others(Mode mode) {
        return List.of(new Variant("plain HTTP, the same pages, as many threads", () -> plain.run(mode)));
    }

    @Override
    public void close() {
        super.close();
        plain.close();
    }
}
