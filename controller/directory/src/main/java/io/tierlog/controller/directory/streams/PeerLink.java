/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import io.tierlog.directory.v1.PeerRequest;
import io.tierlog.directory.v1.PeerResponse;
import java.util.concurrent.CompletableFuture;

/** The way to other instances. */
public interface PeerLink extends AutoCloseable {
    /**
     * Sends a request to one instance.
     *
     * @return its answer; completes with an exception when there is none within the deadline of {@link DirectoryLimits#forwardMs}
     */
    CompletableFuture<PeerResponse> ask(Owners.Peer peer, PeerRequest request);

    @Override
    void close();
}
