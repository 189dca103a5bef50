/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.web;

import io.tierlog.controller.http.Page;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPInputStream;

/** The files of the browser side, from the class path. They hold nothing of the log, so they need no token. Without state. */
final class Assets {
    /** Scripts, styles and calls of this server alone, nothing inline, and in no frame of another site. */
    private static final Map<String, String> HEADERS = Map.of(
            "Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
                    + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options", "nosniff",
            "Referrer-Policy", "no-referrer",
            "Cache-Control", "no-cache");

    private Assets() {}

    static List<Page> all() {
        return List.of(
                page("/", "index.html", "text/html; charset=utf-8"),
                page("/app.js", "app.js", "text/javascript; charset=utf-8"),
                page("/app.css", "app.css", "text/css; charset=utf-8"));
    }

    private static Page page(String path, String file, String mediaType) {
        byte[] body = read(file);
        return new Page(path, true, Set.of(), (_, out) -> out.file(mediaType, HEADERS, body));
    }

    /** A file of the bundle. */
    static byte[] read(String file) {
        boolean packed = !file.endsWith(".html");
        try (InputStream in = Assets.class.getResourceAsStream("/web/" + file + (packed ? ".gz" : ""))) {
            if (in == null) {
                throw new IllegalStateException("the bundle has no " + file + ": run node build.mjs in ops/dashboard/src/main/web");
            }
            return packed ? new GZIPInputStream(in).readAllBytes() : in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException("the file " + file + " of the bundle cannot be read", e);
        }
    }
}
