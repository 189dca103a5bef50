/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import picocli.CommandLine.Option;

/** Where the directory's door is, and how to come in. */
public final class DirectoryOptions extends DoorOptions {
    @Option(names = "--directory", paramLabel = "URL", description = "The directory's --directory-listen (default: ${DEFAULT-VALUE}).")
    String directory = "http://127.0.0.1:8082";

    /** Made by picocli. */
    public DirectoryOptions() {}

    @Override
    String url() {
        return directory;
    }

    @Override
    String who() {
        return "directory";
    }

    @Override
    String flags() {
        return "--directory here and --directory-listen there";
    }
}
