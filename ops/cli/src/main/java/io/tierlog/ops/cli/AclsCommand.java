/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.acl.AccessRole;
import io.tierlog.events.acl.AclTable;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.Columns;
import io.tierlog.ops.cli.command.CommandGroup;
import io.tierlog.ops.cli.command.OutputFormat;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.SecurityDisabledException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog acls}: what each part may do on a Kafka cluster with an authorizer. */
@Command(
        name = "acls",
        description = "Print or make the ACLs that each part needs in Kafka.",
        subcommands = {AclsCommand.Apply.class, AclsCommand.Print.class})
final class AclsCommand extends CommandGroup {
    /** Which ACLs: the flags that both commands share. */
    static final class Choice {
        @Mixin
        ClusterOptions cluster;

        @Option(
                names = "--principal",
                paramLabel = "ROLE=PRINCIPAL",
                description = "The principal of a role, as the brokers name it; several times for several (default: User:tierlog-ROLE for each role)."
                        + " Roles: controller, agent, directory, publisher, operator, auditor, signer, dashboard, setup.")
        List<String> principals = new ArrayList<>();

        @Option(
                names = "--application-id",
                paramLabel = "NAME",
                description = "The controllers' --application-id (default: PREFIX-controller).")
        @Nullable String applicationId;

        @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
        OutputFormat format = OutputFormat.text;

        /** The ACLs of the chosen roles; of a role twice, the ones of both principals. */
        Map<AclBinding, AccessRole> bindings() {
            AclTable table = new AclTable(cluster.topics(), applicationId == null ? cluster.topics().controllers() : applicationId);
            Map<AclBinding, AccessRole> all = new LinkedHashMap<>();
            if (principals.isEmpty()) {
                for (AccessRole role : AccessRole.values()) {
                    String principal = "User:" + cluster.topics().prefix() + "-" + role.name().toLowerCase(Locale.ROOT);
                    table.of(role, principal).forEach(binding -> all.put(binding, role));
                }
            }
            for (String given : principals) {
                int equals = given.indexOf('=');
                AccessRole role = role(equals < 0 ? given : given.substring(0, equals), given);
                String principal = equals < 0 ? "" : given.substring(equals + 1);
                if (!principal.matches("[A-Za-z]+:.+")) {
                    throw new CliError("--principal " + given + " names no principal", "for example: --principal agent=User:agents",
                            CliError.BAD_INPUT);
                }
                table.of(role, principal).forEach(binding -> all.put(binding, role));
            }
            return all;
        }

        private static AccessRole role(String name, String given) {
            for (AccessRole role : AccessRole.values()) {
                if (role.name().equalsIgnoreCase(name)) {
                    return role;
                }
            }
            throw new CliError("--principal " + given + " names no role",
                    "roles are controller, agent, directory, publisher, operator, auditor, signer, dashboard, setup", CliError.BAD_INPUT);
        }
    }

    /** {@code tierlog acls print}. */
    @Command(name = "print", description = "Print the ACLs that each part needs; asks no broker.")
    static final class Print implements Callable<Integer> {
        @Spec
        CommandSpec spec;

        @Mixin
        Choice choice;

        @Override
        public Integer call() throws Exception {
            PrintWriter out = spec.commandLine().getOut();
            Map<AclBinding, AccessRole> bindings = choice.bindings();
            switch (choice.format) {
                case text -> {
                    Columns table = new Columns("principal", "operation", "resource", "pattern", "name");
                    bindings.keySet().forEach(acl -> table.row(acl.entry().principal(), acl.entry().operation(), acl.pattern().resourceType(),
                            acl.pattern().patternType(), acl.pattern().name()));
                    table.print(out, "no ACLs");
                }
                case json -> {
                    ArrayNode all = new ObjectMapper().createArrayNode();
                    bindings.forEach((acl, role) -> {
                        ObjectNode row = all.addObject();
                        row.put("role", role.name()).put("principal", acl.entry().principal()).put("operation", acl.entry().operation().name())
                                .put("resource", acl.pattern().resourceType().name()).put("pattern", acl.pattern().patternType().name())
                                .put("name", acl.pattern().name());
                    });
                    out.println(new ObjectMapper().writeValueAsString(all));
                }
            }
            out.flush();
            return 0;
        }
    }

    /** {@code tierlog acls apply}. */
    @Command(
            name = "apply",
            description = "Make the ACLs that do not exist yet.",
            footer = {"", "It takes none away. --client-config names the properties of a principal that has ALTER on the cluster."})
    static final class Apply implements Callable<Integer> {
        @Spec
        CommandSpec spec;

        @Mixin
        Choice choice;

        @Override
        public Integer call() throws Exception {
            Set<AclBinding> wanted = choice.bindings().keySet();
            List<AclBinding> missing = apply(choice.cluster.kafka(), wanted);
            PrintWriter out = spec.commandLine().getOut();
            int found = wanted.size() - missing.size();
            switch (choice.format) {
                case text -> out.println("made " + missing.size() + " ACLs, found " + found);
                case json -> out.println(new ObjectMapper().writeValueAsString(Map.of("made", missing.size(), "found", found)));
            }
            out.flush();
            return 0;
        }

        /** Makes those that are missing, and returns them. */
        private static List<AclBinding> apply(KafkaAccess access, Set<AclBinding> wanted) throws InterruptedException {
            int timeoutMs = Math.toIntExact(access.timeout().toMillis());
            try (Admin admin = Admin.create(access.client(Map.of("default.api.timeout.ms", timeoutMs, "request.timeout.ms", timeoutMs)))) {
                Collection<AclBinding> found = admin.describeAcls(AclBindingFilter.ANY).values().get(timeoutMs, TimeUnit.MILLISECONDS);
                Set<AclBinding> there = new HashSet<>(found);
                List<AclBinding> missing = wanted.stream().filter(acl -> !there.contains(acl)).toList();
                admin.createAcls(missing).all().get(timeoutMs, TimeUnit.MILLISECONDS);
                return missing;
            } catch (ExecutionException e) {
                throw refused(access, e.getCause() == null ? e : e.getCause());
            } catch (TimeoutException | KafkaException e) {
                throw refused(access, e);
            }
        }

        private static CliError refused(KafkaAccess access, Throwable cause) {
            if (cause instanceof SecurityDisabledException) {
                return new CliError("the brokers have no authorizer", "set authorizer.class.name on every broker and controller; docs/cluster.md"
                        + " shows it", CliError.BAD_INPUT, cause);
            }
            if (cause instanceof AuthorizationException) {
                return new CliError("the brokers refuse to make ACLs", "name the properties of a principal that has ALTER and DESCRIBE on the"
                        + " cluster, or of one of super.users, with --client-config", CliError.BAD_INPUT, cause);
            }
            return new CliError("cannot make ACLs at " + access.bootstrapServers() + ": " + cause.getMessage(), "look at --bootstrap-servers and"
                    + " --client-config", CliError.FAILURE, cause);
        }
    }
}
