/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import picocli.CommandLine.Option;

/** URL and token of the directory's API. */
public final class DirectoryOptions extends HttpOptions {
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
