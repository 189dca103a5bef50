/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.DirectoryExtensions;
import io.tierlog.controller.directory.DirectoryOptions;
import io.tierlog.controller.directory.streams.DirectoryConfig;
import io.tierlog.controller.directory.streams.DirectoryException;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.http.ServerException;
import io.tierlog.events.config.OptionValues;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.ReadyLine;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** A directory of this process, alone or beside a controller. Started by one thread; then safe for use by several. */
final class DirectoryInstance implements AutoCloseable {
    private final DirectoryConfig config;
    private final DirectoryExtensions extras;
    private Optional<DirectoryApp> started = Optional.empty();

    private DirectoryInstance(DirectoryConfig config, OptionValues values) {
        this.config = config;
        extras = DirectoryOptions.extras(values, config.tls());
    }

    /** A directory alone; not started yet. */
    static DirectoryInstance alone(OptionValues values) {
        return new DirectoryInstance(DirectoryOptions.config(values), values);
    }

    /** A directory beside a controller with the same options; not started yet. */
    static DirectoryInstance beside(OptionValues values, Path stateDir) {
        return new DirectoryInstance(DirectoryOptions.beside(values, stateDir), values);
    }

    /**
     * Starts it.
     *
     * @throws CliError when it cannot start
     */
    DirectoryInstance start() {
        try {
            started = Optional.of(ClusterOptions.checked(() -> DirectoryApp.start(config, extras)));
            return this;
        } catch (DirectoryException | ServerException e) {
            throw new CliError(e.getMessage(), "look at --help", CliError.BAD_INPUT, e);
        }
    }

    /** The started directory. */
    DirectoryApp app() {
        return started.orElseThrow();
    }

    @Override
    public void close() {
        started.ifPresent(DirectoryApp::close);
    }

    /** URL of its HTTP API, once it is started. */
    String httpUrl() {
        return new Endpoint(config.endpoints().http().host(), app().httpPort()).url(config.tls());
    }

    /** Adds to the line that a program reads when an instance is up. */
    void ready(Map<String, Object> line) {
        DirectoryApp app = app();
        line.put("directory", httpUrl());
        line.put("directoryGrpcPort", app.grpcPort());
        ReadyLine.port(line, "directoryStatusPort", app.statusPort());
    }
}
