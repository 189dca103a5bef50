/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.operate;

import picocli.CommandLine.Option;

/** URL and token of the controller's API. */
public final class ApiOptions extends HttpOptions {
    @Option(names = "--api", paramLabel = "URL", description = "The controller's --api-listen (default: ${DEFAULT-VALUE}).")
    String api = "http://127.0.0.1:8081";

    /** Made by picocli. */
    public ApiOptions() {}

    @Override
    String url() {
        return api;
    }

    @Override
    String who() {
        return "controller";
    }

    @Override
    String flags() {
        return "--api here and --api-listen there";
    }
}
