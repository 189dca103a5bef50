/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.io.IOException;
import java.util.Map;
import java.util.Set;

/**
 * A GET that is not answered with one JSON object: a file, or a stream of events. It does not count among the requests in
 * progress: its answer bounds the number of its streams.
 *
 * @param path its path
 * @param open whether it is answered without a token: only what holds nothing of the log may be
 * @param query names of its query parameters
 * @param answer makes the response
 */
public record Page(String path, boolean open, Set<String> query, Answer answer) {
    /** Makes the response; may block. */
    @FunctionalInterface
    public interface Answer {
        /**
         * Answers one request.
         *
         * @throws Problem when it is refused, before anything is sent
         * @throws IOException when the client has gone
         */
        void to(HttpRequest request, Out out) throws IOException;
    }

    /** Where the response goes: one of the two, once. */
    public interface Out {
        /** Sends a whole file. */
        void file(String mediaType, Map<String, String> headers, byte[] body) throws IOException;

        /** Begins a stream of server-sent events. */
        Events events() throws IOException;
    }

    /** A stream of server-sent events. For one thread. */
    @FunctionalInterface
    public interface Events {
        /**
         * Sends some text; returns when the transport has it. A client that does not take it is closed after the server's time for a response.
         *
         * @throws IOException when the client has gone
         */
        void send(String text) throws IOException;
    }
}
