/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.policy.PolicyWarning;
import io.tierlog.controller.core.policy.PolicyWarnings;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.CommandGroup;
import io.tierlog.ops.cli.command.OutputFormat;
import io.tierlog.ops.cli.policy.PolicyClient;
import io.tierlog.ops.cli.policy.PolicyClient.Answer;
import io.tierlog.ops.cli.policy.PolicyClient.InForce;
import io.tierlog.ops.cli.policy.PolicyFile;
import io.tierlog.ops.policy.Finding;
import io.tierlog.ops.policy.PolicyDiff;
import io.tierlog.ops.policy.PolicyDocument;
import io.tierlog.ops.policy.Reading;
import io.tierlog.schemas.ConfigWarningKind;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tierlog policy}: checks a policy document, applies it, shows the policy in force. */
@Command(
        name = "policy",
        description = "Check, apply, show and compare policies.",
        subcommands = {PolicyCommand.Apply.class, PolicyCommand.Check.class, PolicyCommand.Diff.class, PolicyCommand.Show.class})
final class PolicyCommand extends CommandGroup {
    /** Output of the subcommands, also of findings and warnings. */
    abstract static class Sub implements Callable<Integer> {
        @Spec
        CommandSpec spec;

        @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
        OutputFormat format = OutputFormat.text;

        final void print(Map<String, ?> json, List<String> text) throws JsonProcessingException {
            PrintWriter out = spec.commandLine().getOut();
            switch (format) {
                case text -> text.forEach(out::println);
                case json -> out.println(new ObjectMapper().writeValueAsString(json));
            }
            out.flush();
        }

        /** Prints the findings of a document, and their number. */
        final int invalid(Path file, List<Finding> findings) throws JsonProcessingException {
            List<Map<String, Object>> json = new ArrayList<>();
            List<String> text = new ArrayList<>();
            for (Finding finding : findings) {
                Map<String, Object> one = new LinkedHashMap<>();
                if (finding.line() > 0) {
                    one.put("line", finding.line());
                }
                one.put("path", finding.path());
                one.put("reason", finding.reason());
                json.add(one);
                text.add(file + ": " + finding);
            }
            text.add("invalid: " + findings.size() + (findings.size() == 1 ? " finding" : " findings"));
            Map<String, Object> all = new LinkedHashMap<>();
            all.put("valid", false);
            all.put("findings", json);
            print(all, text);
            return CliError.FAILURE;
        }
    }

    /** A subcommand that needs a cluster. */
    abstract static class OnCluster extends Sub {
        @Mixin
        ClusterOptions cluster;

        @Option(names = "--timeout", paramLabel = "SECONDS", description = "Longest wait for an answer (default: ${DEFAULT-VALUE}).")
        int timeoutSeconds = 10;

        final Duration limit() {
            return Duration.ofSeconds(timeoutSeconds);
        }

        final PolicyClient client() {
            return new PolicyClient(cluster.kafka(), cluster.codec(), cluster.topics());
        }
    }

    private static String warning(ConfigWarningKind kind, String detail) {
        return "warning " + kind + ": " + detail;
    }

    private static Map<String, Object> warningJson(ConfigWarningKind kind, String group, String detail) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("kind", kind.name());
        json.put("group", group);
        json.put("detail", detail);
        return json;
    }

    /** {@code tierlog policy check}. */
    @Command(
            name = "check",
            description = "Report all errors and warnings of a policy document. Needs no cluster.",
            footer = {"", "Exit codes: 0 it can be used, 1 it cannot, 2 it cannot be read."})
    static final class Check extends Sub {
        @Parameters(paramLabel = "FILE", description = "The document, in YAML or JSON.")
        Path file;

        @Override
        public Integer call() throws Exception {
            return switch (PolicyFile.read(file)) {
                case Reading.Invalid(List<Finding> findings) -> invalid(file, findings);
                case Reading.Unreadable(Finding finding) -> throw PolicyFile.unreadable(file, finding);
                case Reading.Valid(Policy policy) -> {
                    List<PolicyWarning> warnings = PolicyWarnings.of(policy);
                    Map<String, Object> json = new LinkedHashMap<>();
                    json.put("valid", true);
                    json.put("warnings", warnings.stream().map(w -> warningJson(w.kind(), w.group(), w.detail())).toList());
                    List<String> text = new ArrayList<>(warnings.stream().map(w -> warning(w.kind(), w.detail())).toList());
                    text.add("valid: " + Policies.migration(policy).groups().size() + " groups, " + warnings.size() + " warnings");
                    print(json, text);
                    yield 0;
                }
            };
        }
    }

    /** {@code tierlog policy apply}. */
    @Command(
            name = "apply",
            description = "Apply a policy document: send it to the controller, and wait for the answer.",
            footer = {
                "",
                "The document is the whole policy: what it does not say has its default. It builds on the version that is in force when the command",
                "begins; if another request comes first, it is refused as stale, and nothing has changed.",
                "Exit codes: 0 in force, 1 refused or not answered, 2 the document or the log cannot be read."
            })
    static final class Apply extends OnCluster {
        @Parameters(paramLabel = "FILE", description = "The document, in YAML or JSON.")
        Path file;

        @Option(
                names = "--based-on",
                paramLabel = "VERSION",
                description = "Version that the document is based on: refused when another one is in force (default: the one in force).")
        @Nullable Long basedOn;

        @Override
        public Integer call() throws Exception {
            Duration limit = limit();
            return switch (PolicyFile.read(file)) {
                case Reading.Invalid(List<Finding> findings) -> invalid(file, findings);
                case Reading.Unreadable(Finding finding) -> throw PolicyFile.unreadable(file, finding);
                case Reading.Valid(Policy policy) -> apply(policy, limit);
            };
        }

        private int apply(Policy policy, Duration limit) throws JsonProcessingException {
            PolicyClient client = client();
            long before = basedOn != null ? basedOn : client.inForce(limit).version();
            return switch (client.change(policy, before, limit)) {
                case Answer.None _ -> throw PolicyClient.noAnswer(limit);
                case Answer.Refused refused -> refused(refused);
                case Answer.Versioned versioned -> {
                    Map<String, Object> json = new LinkedHashMap<>();
                    json.put("version", versioned.version());
                    json.put("adoptedBy", versioned.adoptedBy());
                    json.put("partitions", versioned.partitions());
                    json.put("warnings", versioned.warnings().stream().map(w -> warningJson(w.kind(), w.group(), w.detail())).toList());
                    List<String> text = new ArrayList<>(versioned.warnings().stream().map(w -> warning(w.kind(), w.detail())).toList());
                    text.add("version " + versioned.version() + " is in force in " + versioned.adoptedBy() + " of " + versioned.partitions()
                            + " partitions"
                            + (versioned.adoptedBy() < versioned.partitions() ? " so far; the others follow" : ""));
                    print(json, text);
                    yield 0;
                }
            };
        }

        private int refused(Answer.Refused refused) throws JsonProcessingException {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("refused", refused.reason().name());
            json.put("findings", refused.findings());
            List<String> text = new ArrayList<>(refused.findings());
            text.add("refused: " + refused.reason());
            print(json, text);
            if (refused.reason() == RefusalReason.STALE_POLICY) {
                spec.commandLine().getErr().println("hint: another policy came first; look at it with policy diff " + file + ", and apply again");
                spec.commandLine().getErr().flush();
            }
            return CliError.FAILURE;
        }
    }

    /** {@code tierlog policy show}. */
    @Command(name = "show", description = "Print the policy in force with all its fields, as a document that can be edited and applied.")
    static final class Show extends OnCluster {
        @Override
        public Integer call() throws Exception {
            InForce inForce = client().inForce(limit());
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("version", inForce.version());
            json.put("policy", PolicyDocument.fields(inForce.policy()));
            List<String> text = new ArrayList<>();
            text.add("# version " + inForce.version() + (inForce.version() == 0 ? ": no policy was applied yet" : ""));
            PolicyDocument.write(inForce.policy()).lines().forEach(text::add);
            print(json, text);
            return 0;
        }
    }

    /** {@code tierlog policy diff}. */
    @Command(
            name = "diff",
            description = "Print what applying a policy document would change, path by path.",
            footer = {"", "Exit codes: 0 compared, whatever the difference, 1 the document is invalid, 2 the document or the log cannot be read."})
    static final class Diff extends OnCluster {
        @Parameters(paramLabel = "FILE", description = "The document, in YAML or JSON.")
        Path file;

        @Override
        public Integer call() throws Exception {
            Duration limit = limit();
            return switch (PolicyFile.read(file)) {
                case Reading.Invalid(List<Finding> findings) -> invalid(file, findings);
                case Reading.Unreadable(Finding finding) -> throw PolicyFile.unreadable(file, finding);
                case Reading.Valid(Policy policy) -> {
                    InForce inForce = client().inForce(limit);
                    List<PolicyDiff.Change> changes = PolicyDiff.between(inForce.policy(), policy);
                    List<Map<String, Object>> json = new ArrayList<>();
                    for (PolicyDiff.Change change : changes) {
                        Map<String, Object> one = new LinkedHashMap<>();
                        one.put("path", change.path());
                        one.put("before", change.before());
                        one.put("after", change.after());
                        json.add(one);
                    }
                    List<String> text = new ArrayList<>(changes.stream().map(PolicyDiff.Change::toString).toList());
                    text.add(changes.size() + (changes.size() == 1 ? " change" : " changes") + " to version " + inForce.version());
                    print(Map.of("version", inForce.version(), "changes", json), text);
                    yield 0;
                }
            };
        }
    }
}
