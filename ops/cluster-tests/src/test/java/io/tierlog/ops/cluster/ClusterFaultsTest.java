/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.http.AccessRules;
import io.tierlog.controller.http.Endpoint;
import io.tierlog.events.registry.RegistryConfig;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.audit.Finding;
import io.tierlog.ops.audit.VerifyReport;
import io.tierlog.ops.cluster.FaultRounds.Strike;
import io.tierlog.ops.dashboard.DashboardApp;
import io.tierlog.ops.dashboard.DashboardConfig;
import io.tierlog.ops.dashboard.fold.FoldLimits;
import io.tierlog.ops.process.Certificates;
import io.tierlog.tls.Tls;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * One secured cluster for all tests of this class, which is expensive to start. First a run that nothing disturbs, in which no part may be refused
 * anything by the brokers; then questions to both directories, and an upgrade of the controllers while engines work; then what each role must not
 * do, and wrong certificates and passwords; then faults while engines work: the log and the contents are checked after each. Prints how long
 * decisions stood still.
 */
@RequiresDocker
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@Timeout(value = 8, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ClusterFaultsTest {
    @SuppressWarnings("NullAway.Init") // start sets them.
    private TierlogCluster cluster;

    @SuppressWarnings("NullAway.Init")
    private FaultRounds rounds;

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        long start = System.nanoTime();
        cluster = new TierlogCluster(directory, false, CoreVersion.CURRENT - 1);
        rounds = new FaultRounds(cluster);
        System.out.printf(Locale.ROOT, "the cluster is up after %.1f s%n", (System.nanoTime() - start) / 1e9);
    }

    @AfterAll
    void stop() {
        if (rounds != null) {
            rounds.table().forEach(System.out::println);
            rounds.close();
        }
        if (cluster != null) {
            cluster.close();
        }
    }

    /** Every part works, the dashboard and the operator's commands too, and the authorizers of the brokers have refused nothing. */
    @Test
    @Order(1)
    void inANormalRunNoPartIsRefusedAnything(@TempDir Path state) throws Exception {
        DashboardConfig page = new DashboardConfig(cluster.as("dashboard"), Topics.DEFAULT, Optional.of(RegistryConfig.of(cluster.registryUrl())),
                "tierlog-dashboard", state.resolve("dashboard"), new Endpoint("127.0.0.1", 0), AccessRules.OPEN, false,
                Optional.empty(), Optional.empty(), FoldLimits.DEFAULTS, Tls.NONE);
        try (DashboardApp dashboard = DashboardApp.start(page)) {
            rounds.round("none", List.of());
            CommandRun shown = CommandRun.succeeds(cluster, cluster.access().certificate("operator"), "policy", "show");
            Path policy = Files.writeString(state.resolve("policy.yaml"), shown.text());
            CommandRun.succeeds(cluster, cluster.access().certificate("operator"), "policy", "apply", policy.toString(),
                    "--timeout", "60", "--record-keys", cluster.recordKeys("operator").toString());
            String[] headKeys = {state.resolve("head.key").toString(), state.resolve("head.pub").toString()};
            CommandRun.succeedsAlone(state, "keys", "head", "--file", headKeys[0], "--public", headKeys[1]);
            CommandRun.succeeds(cluster, cluster.access().certificate("signer"), "log", "sign", "--once", "--key", headKeys[0],
                    "--head-keys", headKeys[1]);
            CommandRun proven = CommandRun.succeeds(cluster, cluster.access().certificate("auditor"), "audit", "verify",
                    "--record-keys", cluster.recordKeys("master").toString(), "--head-keys", headKeys[1]);
            assertTrue(proven.text().contains("heads       1 signed"), proven::text);
            assertTrue(dashboard.awaitRunning(Duration.ofSeconds(60)));
        }
        assertEquals(List.of(), cluster.brokers().denials());
    }

    /** Each has half of the partitions, and asks the other about the rest. */
    @Test
    @Order(2)
    void bothDirectoriesAnswerForAllBlocks(@TempDir Path state) throws Exception {
        assertDirectoriesAnswer(state);
    }

    private void assertDirectoriesAnswer(Path state) throws Exception {
        Map<String, Set<String>> asked = rounds.askedFor();
        assertFalse(asked.isEmpty());
        for (Map.Entry<String, Set<String>> one : asked.entrySet()) {
            String keys = Files.write(state.resolve("keys"), one.getValue()).toString();
            Until.holds("both directories know all blocks and answer alike", () -> {
                List<String> first = answers(cluster.directories().getFirst(), one.getKey(), keys);
                List<String> second = answers(cluster.directories().getLast(), one.getKey(), keys);
                return first.equals(second) && first.stream().anyMatch(line -> line.endsWith(" FOUND"))
                        && first.stream().noneMatch(line -> line.endsWith(" UNKNOWN"));
            });
        }
    }

    private List<String> answers(Part directory, String namespace, String keys) {
        CommandRun asked = CommandRun.alone(cluster.directory(), "exist", "--directory", TierlogCluster.urlOf(directory),
                "--token-file", cluster.token().toString(), "--namespace", namespace, "--keys-file", keys);
        // The last line says how old the answers are.
        return asked.text().lines().filter(line -> !line.contains("records behind")).toList();
    }

    /** As docs/operate.md says it: one controller after the other. Once a partition is raised, a controller of the version before is refused. */
    @Test
    @Order(3)
    @Timeout(value = 15, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void anUpgradeUnderLoadLosesNothing() throws Exception {
        int before = CoreVersion.CURRENT - 1;
        rounds.round("upgraded: controller-1", () -> cluster.replaceController(1, CoreVersion.CURRENT).awaitReady());
        rounds.round("upgraded: controller-2", () -> cluster.replaceController(2, CoreVersion.CURRENT).awaitReady());
        rounds.round("back to the version before and up again: controller-2", () -> {
            Part refused = cluster.replaceController(2, before);
            // It starts, gets partitions, and ends; its last lines come after its end.
            assertTrue(Until.within(Duration.ofSeconds(180), () -> !refused.isRunning()
                    && refused.tail().contains("decided by core version " + CoreVersion.CURRENT)), refused::tail);
            cluster.replaceController(2, CoreVersion.CURRENT).awaitReady();
        });
        Map<Integer, List<Integer>> expected = IntStream.range(0, TierlogCluster.PARTITIONS).boxed()
                .collect(Collectors.toMap(partition -> partition, _ -> List.of(CoreVersion.CURRENT)));
        assertEquals(expected, rounds.raisedVersions(), "each partition is raised once");
    }

    @Test
    @Order(4)
    void eachRoleIsRefusedWhatItMustNotDo() throws Exception {
        int refused = 0;
        for (String role : Access.ROLES) {
            refused += RoleRefusals.of(role, cluster.as(role));
        }
        System.out.printf("%d attempts of %d roles were refused%n", refused, Access.ROLES.size());
        for (String role : Access.ROLES) {
            assertTrue(cluster.brokers().denials().stream().anyMatch(line -> line.contains("User:" + role + " ")), "the authorizers name " + role);
        }
        rounds.verify();
    }

    /** A part with the principal of another: each ends with exit code 2 before it writes anything, and names the ACLs that it lacks. */
    @Test
    @Order(5)
    void aPartWithoutItsAclsNamesThem(@TempDir Path state) throws Exception {
        assertLacks("agent", List.of("WRITE on topic tierlog.decisions", "--principal controller="), "controller", "--state-dir", state.toString(),
                "--api-listen", "none", "--http-port", "0");
        assertLacks("auditor", List.of("WRITE on topic tierlog.events", "WRITE on topic tierlog.dead-letters", "--principal agent="),
                "agent", "--node", "c", "--store", state.resolve("store").toString(), "--host", "16blocks", "--bytes-per-block", "4096B",
                "--block-tokens", "16", "--no-tcp", "--engine-socket", state.resolve("engine").toString());
        assertLacks("operator", List.of("READ on topic tierlog.placements", "--principal directory="), "directory", "--state-dir", state.toString());
        assertLacks("setup", List.of("READ on topic tierlog.events", "--principal dashboard="), "dashboard", "--state-dir", state.toString());
        assertLacks("agent", List.of("[tierlog.events]", "acls print"), "audit", "verify");
        CommandRun.succeedsAlone(state, "keys", "head", "--file", state.resolve("key").toString(), "--public", state.resolve("pub").toString());
        assertLacks("auditor", List.of("WRITE on topic tierlog.heads", "--principal signer="), "log", "sign", "--once",
                "--key", state.resolve("key").toString(), "--head-keys", state.resolve("pub").toString());
    }

    private void assertLacks(String principal, List<String> named, String... command) throws Exception {
        assertRefused(cluster.brokers().outsideServers(), cluster.access().certificate(principal), named, command);
    }

    private void assertRefused(String servers, Map<String, String> properties, List<String> named, String... command) throws Exception {
        CommandRun run = CommandRun.of(cluster, servers, properties, command);
        String all = String.join(" ", command) + ": " + run.text();
        assertEquals(2, run.code(), all);
        named.forEach(text -> assertTrue(run.text().contains(text), () -> "without '" + text + "': " + all));
    }

    /** No part can be started, and none hangs: the message says what to change. */
    @Test
    @Order(6)
    void wrongCertificatesAndPasswordsAreExplained(@TempDir Path other) throws Exception {
        Access access = cluster.access();
        String servers = cluster.brokers().outsideServers();
        String[] command = {"topics", "create", "--partitions", String.valueOf(TierlogCluster.PARTITIONS)};
        Certificates strangers = Certificates.in(other);
        List<String> refused = List.of("refuse the certificate of this process", "has not expired", "ssl.keystore.location");
        assertRefused(servers, access.certificate(strangers.certificate("setup")), refused, command);
        assertRefused(servers, access.certificate(access.certificates().expired("setup")), refused, command);
        Map<String, String> distrust = new TreeMap<>(access.certificate("setup"));
        distrust.put("ssl.truststore.location", strangers.authority().toString());
        assertRefused(servers, distrust, List.of("not signed by an authority that this process trusts", "ssl.truststore.location"), command);
        assertRefused(servers.replace("127.0.0.1", "localhost"), access.certificate("setup"), List.of("another host name", "localhost"), command);
        Map<String, String> none = new TreeMap<>(access.certificate("setup"));
        none.keySet().removeIf(name -> name.startsWith("ssl.keystore"));
        assertRefused(servers, none, refused, command);
        String byPassword = "127.0.0.1:" + cluster.brokers().passwordPort();
        assertRefused(byPassword, access.password("agent", "wrong"), List.of("user or the password", "sasl.jaas.config"), command);
        Map<String, String> unreadable = new TreeMap<>(access.certificate("setup"));
        unreadable.put("ssl.truststore.location", other.resolve("absent.pem").toString());
        assertRefused(servers, unreadable, List.of("absent.pem", "--client-config"), command);
    }

    @Test
    @Order(7)
    void faultsLoseAndRepeatNothing(@TempDir Path state) throws Exception {
        long loadedBefore = rounds.loadedBytes();
        Part leader = cluster.brokers().leaderOf(new TopicPartition(Topics.DEFAULT.decisions(), 0));
        rounds.round("killed: broker, leader of decisions 0; disk lost", List.of(new Strike(Fault.DISK_LOST, leader)));
        rounds.round("killed: controller", List.of(new Strike(Fault.KILLED, cluster.controllers().getFirst())));
        // What needs the registry to start comes after it.
        rounds.round("frozen: registry; killed: agent, directory", List.of(new Strike(Fault.FROZEN, cluster.registry()),
                new Strike(Fault.KILLED, cluster.agentOf("a")), new Strike(Fault.KILLED, cluster.directories().getFirst())));
        assertDirectoriesAnswer(state);
        assertTrue(rounds.loadedBytes() > loadedBefore, "nothing was loaded, so no content was compared");
    }

    /** By principals that may write the topics, without the keys. Last, since the audit names these records for ever. */
    @Test
    @Order(8)
    void recordsWithoutTheCodeOfTheirSenderChangeNothing() throws Exception {
        Forgeries forgeries = new Forgeries(cluster);
        forgeries.send();
        Until.holds("dead letters with reason FORGED", () -> forgeries.deadLetters() == Forgeries.EVENTS + Forgeries.COMMANDS);
        // A controller that takes over passes the decision over.
        rounds.roundWithoutAudit("forged records; killed: controller", List.of(new Strike(Fault.KILLED, cluster.controllers().getFirst())));
        VerifyReport report = rounds.audit();
        assertEquals(Forgeries.EVENTS + Forgeries.DECISIONS + Forgeries.PLACEMENTS, report.findings().get(Finding.CODE),
                () -> report.findings().toString());
        assertEquals(Forgeries.EVENTS, forgeries.skipped());
        assertEquals(Forgeries.EVENTS + Forgeries.COMMANDS, forgeries.deadLetters());
    }
}
