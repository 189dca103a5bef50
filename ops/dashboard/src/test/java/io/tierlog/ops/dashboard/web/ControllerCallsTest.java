/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.HttpRequest;
import io.tierlog.controller.http.HttpResponse;
import io.tierlog.controller.http.JsonBody;
import io.tierlog.controller.http.Problem;
import io.tierlog.controller.http.Route;
import io.tierlog.tls.Tls;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** Calls to what is not the operator API of a controller in good health. */
class ControllerCallsTest {
    /** Answers each connection with the same bytes, and leaves it open. */
    private static final class Answering implements AutoCloseable {
        private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final List<Socket> open = new CopyOnWriteArrayList<>();

        Answering(String bytes) throws IOException {
            Thread.ofVirtual().start(() -> {
                try {
                    while (true) {
                        Socket one = socket.accept();
                        open.add(one);
                        OutputStream out = one.getOutputStream();
                        out.write(bytes.getBytes(StandardCharsets.UTF_8));
                        out.flush();
                    }
                } catch (IOException e) {
                    assertTrue(socket.isClosed(), e.toString());
                }
            });
        }

        URI url() {
            return URI.create("http://127.0.0.1:" + socket.getLocalPort());
        }

        @Override
        public void close() throws IOException {
            socket.close();
            for (Socket one : open) {
                one.close();
            }
        }
    }

    private static HttpResponse call(ControllerCalls calls) {
        Route route = calls.routes().getLast();
        HttpRequest.Raw raw = new HttpRequest.Raw(Caller.LOCAL, Map.of(), null, null, "Bearer secret");
        return route.handler().apply(new HttpRequest(raw, route, JsonBody.of(new ObjectMapper(), "{}".getBytes(StandardCharsets.UTF_8))));
    }

    private static Problem refusal(String answer, Duration atMost) throws IOException {
        try (Answering server = new Answering(answer); ControllerCalls calls = new ControllerCalls(Optional.of(server.url()), Tls.NONE, atMost)) {
            return assertThrows(Problem.class, () -> call(calls));
        }
    }

    /** The headers come at once and the body never ends: each call would keep its place. */
    @Test
    void aBodyThatNeverEndsEndsTheCallAndFreesItsPlace() throws Exception {
        String begun = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"version\":";
        try (Answering server = new Answering(begun);
                ControllerCalls calls = new ControllerCalls(Optional.of(server.url()), Tls.NONE, Duration.ofMillis(200))) {
            for (int i = 0; i <= ControllerCalls.AT_ONCE; i++) {
                Problem late = assertThrows(Problem.class, () -> call(calls));
                assertEquals(Problem.Kind.NOT_READY, late.kind(), late.getMessage());
                assertTrue(late.getMessage().contains("did not answer within"), late.getMessage());
            }
        }
    }

    @Test
    void whatIsNoOperatorApiIsNamed() throws Exception {
        String page = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>";
        assertTrue(refusal(page, Duration.ofSeconds(60)).getMessage().contains("is no operator API"));
    }

    @Test
    void anAnswerOverTheBoundIsNotRead() throws Exception {
        String tooLong = "HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n" + "1".repeat(9_000_000);
        assertTrue(refusal(tooLong, Duration.ofSeconds(60)).getMessage().contains("did not answer as a controller does"));
    }
}
