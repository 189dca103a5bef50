/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.http.AccessRules;
import io.tierlog.controller.http.oidc.OidcRules;
import io.tierlog.events.config.Bounds;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;

/** The options that say who may call an API, the same for controllers, directories and live pages. Static and without state. */
public final class AccessOptions {
    /** File of tokens. */
    public static final String TOKENS = "api.tokens";

    /** Serve every caller. */
    public static final String INSECURE = "api.insecure";

    /** Most requests of a caller. */
    public static final String RATE = "api.rate";

    /** The identity provider. */
    public static final String ISSUER = "oidc.issuer";

    /** The audience of its tokens. */
    public static final String AUDIENCE = "oidc.audience";

    /** Its keys. */
    public static final String KEYS = "oidc.keys";

    private static final String ROLES = "oidc.roles.claim";
    private static final String OPERATOR = "oidc.operator.role";
    private static final String READER = "oidc.reader.role";
    private static final String NAMESPACES = "oidc.namespaces.claim";

    private AccessOptions() {}

    /** Declares them beside others. */
    public static Options declare(Options options) {
        return options.group("Access", Importance.MEDIUM)
                .text(TOKENS, Bounds.FILE, "FILE", "File of the tokens that are accepted: lines of reader|operator NAME sha256:HEX"
                        + " [namespaces=PATTERN,...] (default: no tokens are required).")
                .off(INSECURE, "Serve other machines without tokens.")
                .number(RATE, 0, 0, 1_000_000, "N",
                        "Most requests of one caller in a second, 0 for no limit; one more gets 429. A stream counts once.")
                .text(ISSUER, Bounds.TEXT, "TEXT", "OIDC: the issuer (iss) of accepted JWTs (default: none are accepted).")
                .text(AUDIENCE, Bounds.TEXT, "TEXT", "OIDC: their audience (aud).")
                .text(KEYS, Bounds.form("https://, http:// or a file that can be read", AccessOptions::keys), "URL",
                        "OIDC: the keys that sign them, a JWK set at a URL or in a file.")
                .option(ROLES, ConfigDef.Type.STRING, "roles", Bounds.TEXT, "NAME", "OIDC: the claim with the roles of a caller.")
                .option(OPERATOR, ConfigDef.Type.STRING, "tierlog-operator", Bounds.TEXT, "NAME", "OIDC: the role that may change.")
                .option(READER, ConfigDef.Type.STRING, "tierlog-reader", Bounds.TEXT, "NAME", "OIDC: the role that may read.")
                .text(NAMESPACES, Bounds.TEXT, "NAME",
                        "OIDC: the claim with the namespaces that a caller may see, which every token then needs (default: none, all may see all).");
    }

    private static void keys(String text) {
        boolean url = text.startsWith("https://") || text.startsWith("http://");
        if (!url && !Files.isReadable(Path.of(text))) {
            throw new IllegalArgumentException("'" + text + "' is not an http or https URL, and no file that can be read");
        }
    }

    /**
     * The rules.
     *
     * @throws IllegalArgumentException when options contradict each other
     */
    public static AccessRules rules(OptionValues values) {
        long oidc = Stream.of(ISSUER, AUDIENCE, KEYS).filter(values::has).count();
        if (oidc != 0 && oidc != 3) {
            throw new IllegalArgumentException("--oidc-issuer, --oidc-audience and --oidc-keys go together");
        }
        return new AccessRules(values.findPath(TOKENS), values.optional(ISSUER).map(issuer -> new OidcRules(issuer, values.text(AUDIENCE),
                values.text(KEYS), values.text(ROLES), values.text(OPERATOR), values.text(READER), values.optional(NAMESPACES))),
                values.number(RATE));
    }
}
