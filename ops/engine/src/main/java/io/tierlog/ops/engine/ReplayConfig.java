/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import com.google.protobuf.ByteString;
import io.tierlog.ops.engine.api.Timeouts;
import io.tierlog.ops.engine.workload.Request;
import io.tierlog.ops.engine.workload.Workload;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Everything a replay depends on. Checked once, by {@link #validate}, with errors that name the flag.
 *
 * @param run names the run; begins the ids of its requests, so it must be new for every run on one log
 * @param workload what is replayed
 * @param nodes the nodes, 1 or more
 * @param router how requests are spread
 * @param probes receives prompts ahead of their requests
 * @param traced whether each request brings a W3C trace context of its own, with the sampled flag
 */
public record ReplayConfig(
        String run,
        Workload workload,
        List<EngineNode> nodes,
        RouterKind router,
        Pacing pacing,
        Device device,
        Identity identity,
        Timeouts timeouts,
        StoredAt storedAt,
        Optional<ProbeAhead.Plan> probes,
        boolean traced) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final int DIGEST_BYTES = 32;
    private static final int MAX_CONCURRENCY = 4_096;
    private static final int MAX_NODES = 256;

    /**
     * How fast.
     *
     * @param concurrency requests in flight at most, over all nodes
     * @param speed times the pace of the workload's own arrivals; empty: as fast as the concurrency allows
     * @param prefillMicrosPerToken modelled cost of computing a prompt token; counted in the time to first token, never slept
     * @param decodeMicrosPerToken time a generated token takes; slept, so that requests hold their pages and stay in flight as long
     */
    public record Pacing(int concurrency, OptionalDouble speed, long prefillMicrosPerToken, long decodeMicrosPerToken) {
        /** Generation takes no time. */
        public Pacing(int concurrency, OptionalDouble speed, long prefillMicrosPerToken) {
            this(concurrency, speed, prefillMicrosPerToken, 0);
        }

        /** When {@code request} arrives, in milliseconds from the start; 0 where requests come as fast as they go. */
        long arrivalMs(Request request) {
            return speed.isEmpty() ? 0 : (long) (request.arrivalMs() / speed.getAsDouble());
        }

        /** A copy as fast as the concurrency allows, with generation that takes no time. */
        public Pacing asFastAsItGoes() {
            return new Pacing(concurrency, OptionalDouble.empty(), prefillMicrosPerToken);
        }

        /** 32 in flight, as fast as they go, 20 us a token. */
        public static Pacing defaults() {
            return new Pacing(32, OptionalDouble.empty(), 20);
        }
    }

    /**
     * Device memory of every node.
     *
     * @param directory where the shared files are made; a memory file system
     * @param pages pages of each node
     * @param blockBytes size of a page
     * @param retention whether pages of ended requests stay as prefix cache
     */
    public record Device(Path directory, int pages, long blockBytes, boolean retention) {}

    /**
     * What makes KV reusable; the agents must have the same values.
     *
     * @param namespace begins the namespace of every tenant: model, revision, dtype
     * @param layoutDigest SHA-256 of the layouts in the agents' canonical encoding
     */
    public record Identity(String namespace, ByteString layoutDigest) {}

    public ReplayConfig {
        nodes = List.copyOf(nodes);
    }

    /** A configuration with defaults for all that has any. */
    public static ReplayConfig of(String run, Workload workload, List<EngineNode> nodes, Device device, Identity identity) {
        return new ReplayConfig(
                run,
                workload,
                nodes,
                RouterKind.AFFINITY,
                Pacing.defaults(),
                device,
                identity,
                Timeouts.defaults(),
                StoredAt.unknown(),
                Optional.empty(),
                false);
    }

    /** A copy with another pace. */
    public ReplayConfig withPacing(Pacing other) {
        return new ReplayConfig(run, workload, nodes, router, other, device, identity, timeouts, storedAt, probes, traced);
    }

    /** A copy with another router. */
    public ReplayConfig withRouter(RouterKind other) {
        return new ReplayConfig(run, workload, nodes, other, pacing, device, identity, timeouts, storedAt, probes, traced);
    }

    /** A copy with other timeouts. */
    public ReplayConfig withTimeouts(Timeouts other) {
        return new ReplayConfig(run, workload, nodes, router, pacing, device, identity, other, storedAt, probes, traced);
    }

    /** A copy with another history of the store. */
    public ReplayConfig withStoredAt(StoredAt other) {
        return new ReplayConfig(run, workload, nodes, router, pacing, device, identity, timeouts, other, probes, traced);
    }

    /** A copy whose prompts are announced ahead of their requests. */
    public ReplayConfig withProbes(ProbeAhead.Plan other) {
        return new ReplayConfig(run, workload, nodes, router, pacing, device, identity, timeouts, storedAt, Optional.of(other), traced);
    }

    /** A copy whose requests are traced, or not. */
    public ReplayConfig withTraced(boolean other) {
        return new ReplayConfig(run, workload, nodes, router, pacing, device, identity, timeouts, storedAt, probes, other);
    }

    /** Checks every value. */
    public void validate() throws ConfigurationError {
        check(NAME.matcher(run).matches(), "--run", "expected 1 to 64 letters, digits, dots, dashes or underscores, found " + run);
        check(workload.size() > 0, "--requests", "expected a workload with at least one request");
        check(!nodes.isEmpty() && nodes.size() <= MAX_NODES, "--nodes", "expected 1 to " + MAX_NODES + ", found " + nodes.size());
        Set<String> names = new HashSet<>();
        for (EngineNode node : nodes) {
            check(NAME.matcher(node.name()).matches(), "--nodes", "expected a name of letters, digits, dots, dashes or underscores, found "
                    + node.name());
            check(names.add(node.name()), "--nodes", "expected different names, found " + node.name() + " twice");
        }
        check(
                pacing.concurrency > 0 && pacing.concurrency <= MAX_CONCURRENCY,
                "--concurrency",
                "expected 1 to " + MAX_CONCURRENCY + ", found " + pacing.concurrency);
        double speed = pacing.speed.orElse(1);
        check(speed > 0 && Double.isFinite(speed), "--speed", "expected a positive number, found " + speed);
        check(probes.isEmpty() || (probes.get().aheadMs() > 0 && pacing.speed.isPresent()), "--probe-ahead",
                "expected a time above 0, and a workload that comes at a pace (--speed above 0)");
        perToken("--prefill-us-per-token", pacing.prefillMicrosPerToken);
        perToken("--decode-us-per-token", pacing.decodeMicrosPerToken);
        check(device.pages > 0, "--device", "expected at least one block, found " + device.pages);
        check(
                device.blockBytes > 0 && device.blockBytes <= Long.MAX_VALUE / device.pages,
                "--bytes-per-block",
                "expected a positive size, found " + device.blockBytes);
        check(Files.isDirectory(device.directory), "--shared-memory", "expected a directory, found " + device.directory);
        check(!identity.namespace.isBlank(), "--namespace", "expected a name");
        check(
                identity.layoutDigest.size() == DIGEST_BYTES,
                "--layout-digest",
                "expected " + DIGEST_BYTES + " bytes, found " + identity.layoutDigest.size());
    }

    private static void perToken(String flag, long micros) throws ConfigurationError {
        check(micros >= 0 && micros <= 1_000_000, flag, "expected 0 to 1000000, found " + micros);
    }

    private static void check(boolean holds, String flag, String problem) throws ConfigurationError {
        if (!holds) {
            throw new ConfigurationError(flag, problem);
        }
    }

    /** Namespace of tenant {@code tenant} of the workload. */
    public String namespace(int tenant) {
        return identity.namespace + "/" + workload.tenants().get(tenant);
    }
}
