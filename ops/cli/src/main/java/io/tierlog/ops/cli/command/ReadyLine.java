/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/** The line on standard output by which a process that runs until Ctrl-C reports that it is up. Static and without state. */
public final class ReadyLine {
    private ReadyLine() {}

    /**
     * Prints the line at once.
     *
     * @param text for people, without a full stop: where the process can be reached
     * @param fields puts what a program needs, between {@code event} and {@code pid}
     */
    public static void print(PrintWriter out, OutputFormat format, String text, Consumer<Map<String, Object>> fields) throws JsonProcessingException {
        out.println(switch (format) {
            case text -> text + ". Ctrl-C stops it.";
            case json -> {
                Map<String, Object> line = new LinkedHashMap<>();
                line.put("event", "ready");
                fields.accept(line);
                line.put("pid", ProcessHandle.current().pid());
                yield new ObjectMapper().writeValueAsString(line);
            }
        });
        out.flush();
    }

    /** Puts a port that may be closed: -1. */
    public static void port(Map<String, Object> line, String name, int port) {
        if (port >= 0) {
            line.put(name, port);
        }
    }
}
