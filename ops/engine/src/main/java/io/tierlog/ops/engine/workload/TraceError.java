/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.workload;

import java.nio.file.Path;

/** A trace that cannot be replayed: names the file, the line and what was expected there. */
public final class TraceError extends Exception {
    private static final long serialVersionUID = 1L;

    private final long line;

    TraceError(Path file, long line, String problem) {
        super(file + (line > 0 ? ", line " + line : "") + ": " + problem);
        this.line = line;
    }

    /** The line, from 1; 0 when the file as a whole is meant. */
    public long line() {
        return line;
    }
}
