/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.events.Closers;
import io.tierlog.events.Codec;
import io.tierlog.events.Schemas;
import io.tierlog.events.config.Bounds;
import io.tierlog.events.config.LogOptions;
import io.tierlog.events.config.OptionValues;
import io.tierlog.events.config.Options;
import io.tierlog.events.config.TlsOptions;
import io.tierlog.events.registry.RegistryClient;
import io.tierlog.events.registry.RegistryLimits;
import io.tierlog.events.registry.SchemaIds;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.heads.HeadKeys;
import io.tierlog.ops.audit.heads.HeadSigner;
import io.tierlog.ops.audit.heads.SigningKey;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.OptionFlags;
import io.tierlog.ops.cli.command.ReadyLine;
import io.tierlog.ops.cli.command.ServiceCommand;
import io.tierlog.ops.cli.command.TimeText;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.regex.Pattern;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import picocli.CommandLine.Command;

/** {@code tierlog log sign}: signs the heads of a log, in the foreground or once. Its flags are declared options. */
@Command(
        name = "sign",
        description = "Sign where the log ends and what was appended, every minute, so that audit verify can prove both.",
        modelTransformer = OptionFlags.class,
        footer = {
            "",
            "It runs until Ctrl-C, one for each log, and not on the machine of a controller or a broker: who has the private key can sign another",
            "log. It goes on from the last head in the topic of heads. It ends when another signer begins, or when the log ends before that head.",
            "Exit codes: 0 signed (--once), 1 it ended, or signed nothing because of what it found, 2 wrong input, or the log cannot be reached."
        })
public final class LogSignCommand extends ServiceCommand<RunningSigner> {
    private static final String KEY = "key";
    private static final String HEAD_KEYS = "head.keys";
    private static final String EVERY = "every";
    private static final String ONCE = "once";
    private static final String STATUS_LISTEN = "sign.status.listen";

    @Override
    public Options options() {
        return TlsOptions.declare(LogOptions.declare(new Options()
                .group("Heads", Importance.HIGH)
                .required(KEY, Bounds.FILE, "FILE", "The private key that signs, made by 'keys head'.")
                .required(HEAD_KEYS, Bounds.FILE, "FILE", "Public keys of this signer and of those before it, the oldest first.")
                .option(EVERY, ConfigDef.Type.STRING, "60s",
                        Bounds.pattern("a time, for example 60s or 5m", Pattern.compile("0*[1-9]\\d{0,8}(ms|s|m|h|d)")), "TIME",
                        "Time between two heads, 100ms or more.")
                .off(ONCE, "Sign one head at the present end of the log and end, for a timer; where nothing is new, none.")
                .text(STATUS_LISTEN, Bounds.form("HOST:PORT", Endpoint::parse), "HOST:PORT",
                        "Address of /metrics and /health, port 0 for any free one (default: none).")));
    }

    /** The client of the registry, if there is one, is added to the closers. */
    private static HeadSigner.Config config(OptionValues values, Closers closers) {
        HeadKeys keys = HeadKeys.read(values.requirePath(HEAD_KEYS));
        SigningKey key = SigningKey.read(values.requirePath(KEY), keys);
        Codec codec = new Codec(LogOptions.registry(values, RegistryLimits.DEFAULTS)
                .<SchemaIds>map(each -> closers.add("registry", new RegistryClient(each))).orElseGet(Schemas::bundled));
        return new HeadSigner.Config(LogOptions.kafka(values), LogOptions.topics(values), codec, keys, key,
                Duration.ofMillis(TimeText.parse(Options.flag(EVERY), values.text(EVERY))));
    }

    @Override
    protected Optional<Integer> instead(OptionValues values) throws Exception {
        if (!values.flag(ONCE)) {
            return Optional.empty();
        }
        HeadSigner.Last last;
        try (Closers closers = new Closers()) {
            HeadSigner.Config config = ClusterOptions.checked(() -> config(values, closers));
            last = LogChoice.hinting(() -> ClusterOptions.checked(() -> once(config)));
        }
        out().println(switch (format()) {
            case text -> last.number() == 0 ? "the log is empty, and no head is signed" : "the last head is " + last.number() + " of "
                    + Instant.ofEpochMilli(last.timeMs());
            case json -> new ObjectMapper().writeValueAsString(Map.of("number", last.number(), "timeMs", last.timeMs()));
        });
        out().flush();
        return Optional.of(0);
    }

    private static HeadSigner.Last once(HeadSigner.Config config) {
        try {
            return HeadSigner.once(config);
        } catch (AuditException e) {
            throw new CliError(e.getMessage(), e.hint(), CliError.FAILURE, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CliError("interrupted", "run it again", CliError.FAILURE, e);
        }
    }

    @Override
    protected RunningSigner start(OptionValues values) {
        Closers closers = new Closers();
        try {
            return RunningSigner.start(config(values, closers), values.optional(STATUS_LISTEN).map(Endpoint::parse), TlsOptions.tls(values), closers);
        } catch (RuntimeException e) {
            closers.close();
            throw e;
        }
    }

    @Override
    protected Reachable reachable(RunningSigner running) {
        String text = "Signer is up" + (running.statusPort() < 0 ? "" : ", metrics on port " + running.statusPort());
        return new Reachable(text, line -> ReadyLine.port(line, "statusPort", running.statusPort()));
    }

    @Override
    protected CompletionStage<Throwable> ended(RunningSigner running) {
        return running.signer().ended().thenApply(LogSignCommand::fault);
    }

    private static Throwable fault(Throwable ended) {
        return ended instanceof AuditException known ? new CliError("stopped: " + known.getMessage(), known.hint(), CliError.FAILURE, known) : ended;
    }
}
