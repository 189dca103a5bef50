/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard;

import io.tierlog.controller.http.Endpoint;
import io.tierlog.controller.streams.AccessOptions;
import io.tierlog.controller.streams.ControllerOptions;
import io.tierlog.events.config.Bounds;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.events.config.TlsOptions;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.ops.dashboard.fold.FoldLimits;
import java.net.URI;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;

/** The options of a live page, each declared here and nowhere else, and the configuration they make. Static and without state. */
public final class DashboardOptions {
    /** HOST:PORT. */
    public static final String LISTEN = "dashboard.listen";

    /** Where a controller serves the operator API. */
    public static final String OPERATOR_API = "operator.api";

    /** Where the snapshots of the log are. */
    public static final String SNAPSHOTS = "snapshots";

    private static final Bounds ENDPOINT = Bounds.form("HOST:PORT", Endpoint::parse);
    private static final Bounds NAME =
            Bounds.pattern("1 to 100 letters, digits, dots, dashes or underscores", Pattern.compile("[A-Za-z0-9._-]{1,100}"));

    private DashboardOptions() {}

    /** All of them, those of the log among them. */
    public static Options options() {
        Options options = new Options()
                .group("Page", Importance.HIGH)
                .option(LISTEN, ConfigDef.Type.STRING, "127.0.0.1:8086", ENDPOINT, "HOST:PORT", "Address of the page.")
                .option(ControllerOptions.STATE_DIR, ConfigDef.Type.STRING, "~/.tierlog/dashboard", Bounds.PATH, "DIR",
                        "Directory of the state; a lost one is restored from the changelog.")
                .text(ControllerOptions.APPLICATION_ID, NAME, "NAME",
                        "Name of its group and changelog; another name reads the log from the beginning (default: PREFIX-dashboard).")
                .text(OPERATOR_API, Bounds.URL, "URL", "Operator API of a controller, called when an operator acts (default: the page only reads).")
                .text(SNAPSHOTS, Bounds.PATH, "DIR", "Directory of the log's snapshots, to list them (default: none are listed).");
        return TlsOptions.declare(AccessOptions.declare(LogOptions.declare(options)));
    }

    /** The configuration. */
    public static DashboardConfig config(OptionValues values) {
        return new DashboardConfig(LogOptions.kafka(values), LogOptions.topics(values), LogOptions.registry(values, RegistryLimits.DEFAULTS),
                values.optional(ControllerOptions.APPLICATION_ID).orElseGet(() -> LogOptions.topics(values).dashboards()),
                values.requirePath(ControllerOptions.STATE_DIR), Endpoint.parse(values.text(LISTEN)), AccessOptions.rules(values),
                values.flag(AccessOptions.INSECURE), values.optional(OPERATOR_API).map(URI::create),
                values.optional(SNAPSHOTS).map(OptionValues::path), FoldLimits.DEFAULTS,
                TlsOptions.tls(values));
    }
}
