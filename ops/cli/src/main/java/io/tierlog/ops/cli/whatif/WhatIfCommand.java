/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.whatif;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.Columns;
import io.tierlog.ops.cli.command.LogFileOptions;
import io.tierlog.ops.engine.workload.TraceError;
import io.tierlog.ops.engine.workload.TraceFile;
import io.tierlog.ops.engine.workload.Workload;
import io.tierlog.ops.whatif.Generated;
import io.tierlog.ops.whatif.OneTier;
import io.tierlog.ops.whatif.PolicyReport;
import io.tierlog.ops.whatif.Prompts;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog whatif}. */
@Command(
        name = "whatif",
        description = {
            "Show what other policies, sizes, nodes, routes and hardware would do with a log, a trace or a generated workload.",
            "Without --one-tier and --report, the controller and the agents run in virtual time over a model of engines and hardware, each"
                    + " variation once, on all cores."
        },
        subcommands = CalibrateCommand.class,
        footer = {
            "",
            "A variation is a policy document times the values of each --sweep. Its hits are counted as in the demo's report; lru and optimum are",
            "those of one tier as large as the devices, hosts and disks of all nodes together: no policy has more local hits than optimum. The",
            "store keeps everything. docs/whatif.md describes the model.",
            "",
            "With --one-tier there is one tier, and no time for transfers. A request is atomic: the leading blocks of its prompt that the tier",
            "holds are its hits; then the tier takes all its blocks and shrinks to its capacity. The ratio is hits by blocks of all prompts. No",
            "block leaves before one that extends it, except under lru, the reference. docs/policies.md describes the policies.",
            "Exit codes: 0 done, 1 --check found a tier's hit ratio more than 0.01 apart, 2 wrong usage or input."
        })
public final class WhatIfCommand implements Callable<Integer> {
    private static final String FOR_EXAMPLE = "for example: --trace FILE --one-tier 1%,5%,10%,25% --policies all";

    private static final Set<String> OF_REPORT = Set.of("--report", "--trace", "--requests", "--seed", "--format");
    private static final Set<String> OF_ONE_TIER = Set.of("--one-tier", "--policies", "--trace", "--workload", "--requests", "--seed", "--format");
    private static final Set<String> OF_CHECK = Set.of(
            "--check", "--trace", "--requests", "--seed", "--format", "--policy", "--nodes", "--host", "--disk", "--device", "--bytes-per-block",
            "--route", "--speed", "--concurrency", "--prefetch-wait-ms", "--model");

    @Spec
    CommandSpec spec;

    @Mixin
    ClusterFlags cluster;

    @Mixin
    LogFileOptions files;

    @Option(
            names = "--log",
            paramLabel = "DIR",
            description = "Use the requests of this log: the data directory of a stopped broker or of demo --keep, or an archive.")
    @Nullable Path log;

    @Option(names = "--trace", paramLabel = "FILE", description = "Use this trace (Mooncake JSONL).")
    @Nullable Path trace;

    @Option(
            names = "--workload",
            paramLabel = "NAME",
            description = "Use a generated workload: conversations, shared-prompts, documents, agents, scans or loops.")
    @Nullable String workload;

    @Option(names = "--requests", paramLabel = "N", description = "Requests to use, the first ones (default: all).")
    @Nullable Integer requests;

    @Option(names = "--seed", paramLabel = "N", description = "Seed of generated workloads (default: ${DEFAULT-VALUE}).")
    long seed = 1;

    @Option(
            names = "--one-tier",
            paramLabel = "SHARE",
            split = ",",
            description = "Sizes of the tier in percent of the workload's unique blocks, more than 0%% and at most 100%%.")
    List<String> shares = List.of();

    @Option(
            names = "--policies",
            paramLabel = "NAME",
            split = ",",
            description = "Policies to compare: lru, optimum, default, turns, s3-fifo, sieve, arc, tinylfu, gdsf, or all (default: all).")
    List<String> policies = List.of("all");

    @Option(
            names = "--check",
            description = "Run the demo with the trace, or with its own workload, and then the same in the model, and print the differences."
                    + " The model is calibrated by the log of that run, unless --model is given.")
    boolean check;

    @Option(
            names = "--report",
            description = "Print the page that compares all policies on all generated workloads, and on the trace and its halves if one is given.")
    boolean report;

    @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    ClusterRun.Format format = ClusterRun.Format.text;

    @Override
    public Integer call() throws Exception {
        for (String ofLog : List.of("--topic-prefix", "--registry-url")) {
            if (log == null && spec.commandLine().getParseResult().hasMatchedOption(ofLog)) {
                throw new CliError(ofLog + " says how the records of a log are read, and there is no --log", "leave it out", CliError.BAD_INPUT);
            }
        }
        if (report) {
            refuseOthers("--report", OF_REPORT);
            report();
            return 0;
        }
        if ((trace != null || log != null) && spec.commandLine().getParseResult().hasMatchedOption("--seed")) {
            throw new CliError("--seed is of generated workloads, and " + (trace != null ? "--trace" : "--log") + " is given", "leave out --seed",
                    CliError.BAD_INPUT);
        }
        if (check) {
            refuseOthers("--check", OF_CHECK);
            if (format == ClusterRun.Format.html) {
                throw new CliError("--check prints text, json or csv, not html", "leave out --format, or write --format json", CliError.BAD_INPUT);
            }
            return new CheckRun(this, spec.commandLine()).run();
        }
        List<Double> sizes = Shares.parse(shares);
        List<String> names = Names.several("--policies", policies, OneTier.policies());
        if (sizes.isEmpty() && spec.commandLine().getParseResult().hasMatchedOption("--policies")) {
            throw new CliError("--one-tier is missing: the sizes to compare", FOR_EXAMPLE, CliError.BAD_INPUT);
        }
        if (sizes.isEmpty()) {
            new ClusterRun(this, spec.commandLine()).run();
            return 0;
        }
        refuseOthers("--one-tier", OF_ONE_TIER);
        if ((trace == null) == (workload == null)) {
            throw new CliError("give either --trace or --workload", FOR_EXAMPLE, CliError.BAD_INPUT);
        }
        if (format == ClusterRun.Format.csv || format == ClusterRun.Format.html) {
            throw new CliError("--one-tier prints text or json, not " + format, "leave out --format, or write --format json", CliError.BAD_INPUT);
        }
        Prompts prompts = workload == null ? trace().orElseThrow() : first(generated(workload));
        List<OneTier.Row> rows = OneTier.run(prompts, sizes, names);
        switch (format) {
            case json -> json(rows);
            default -> text(prompts, sizes, names, rows);
        }
        return 0;
    }

    /** An option that would be ignored is refused. Those of {@code tierlog} itself, such as --verbose, go with everything. */
    private void refuseOthers(String mode, Set<String> used) {
        String others = spec.commandLine().getParseResult().matchedOptions().stream()
                .filter(option -> !option.inherited())
                .map(OptionSpec::longestName)
                .filter(name -> !used.contains(name))
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
        if (!others.isEmpty()) {
            throw new CliError(mode + " does not use " + others, "leave out " + others + ", or " + mode, CliError.BAD_INPUT);
        }
    }

    private void report() {
        if (format != ClusterRun.Format.text) {
            throw new CliError("--report prints text, not " + format, "leave out --format", CliError.BAD_INPUT);
        }
        List<PolicyReport.Subject> subjects = new ArrayList<>();
        trace().ifPresent(prompts -> Stream.of(prompts, prompts.half(true), prompts.half(false))
                .forEach(part -> subjects.add(new PolicyReport.Subject(part.name(), "a trace", part))));
        for (Generated generated : Generated.values()) {
            Prompts prompts = first(generated.make(seed));
            subjects.add(new PolicyReport.Subject(prompts.name(), generated.description(), prompts));
        }
        PrintWriter out = spec.commandLine().getOut();
        PolicyReport.of(subjects).forEach(out::println);
        out.flush();
    }

    Prompts generated(String name) {
        List<Generated> all = List.of(Generated.values());
        List<String> names = all.stream().map(Generated::text).toList();
        return all.get(names.indexOf(Names.one("--workload", name, names))).make(seed);
    }

    private Prompts first(Prompts all) {
        return requests == null ? all : all.first(requests);
    }

    private Optional<Prompts> trace() {
        return trace == null ? Optional.empty() : Optional.of(Prompts.of(traceFile(trace)));
    }

    Workload traceFile(Path file) {
        try {
            return TraceFile.read(file, requests == null ? OptionalInt.empty() : OptionalInt.of(requests));
        } catch (TraceError e) {
            throw new CliError(
                    e.getMessage(),
                    "--trace wants one JSON object per line: timestamp, input_length, output_length, hash_ids",
                    CliError.BAD_INPUT,
                    e);
        }
    }

    private void json(List<OneTier.Row> rows) throws JsonProcessingException {
        ObjectMapper mapper = new ObjectMapper();
        ArrayNode list = mapper.createArrayNode();
        for (OneTier.Row row : rows) {
            ObjectNode one = list.addObject();
            one.put("capacity", row.capacity());
            one.put("policy", row.policy());
            one.put("hit_ratio", BigDecimal.valueOf(row.hitRatio()).setScale(4, RoundingMode.HALF_EVEN).doubleValue());
        }
        PrintWriter out = spec.commandLine().getOut();
        out.println(mapper.writeValueAsString(mapper.createObjectNode().set("rows", list)));
        out.flush();
    }

    private void text(Prompts prompts, List<Double> sizes, List<String> names, List<OneTier.Row> rows) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(prompts.name() + ": " + prompts.prompts().size() + " requests, " + prompts.accesses() + " block accesses, "
                + prompts.uniqueBlocks() + " unique blocks");
        List<String> heads = new ArrayList<>(List.of("hit ratio"));
        shares.forEach(share -> heads.add(share));
        heads.add("");
        Columns table = new Columns(heads.toArray(String[]::new));
        List<Object> blocks = new ArrayList<>(List.of("blocks"));
        sizes.forEach(size -> blocks.add(prompts.blocks(size)));
        blocks.add("");
        table.row(blocks.toArray());
        for (int p = 0; p < names.size(); p++) {
            List<Object> cells = new ArrayList<>(List.of(names.get(p)));
            for (int s = 0; s < sizes.size(); s++) {
                cells.add(String.format(Locale.ROOT, "%.4f", rows.get(s * names.size() + p).hitRatio()));
            }
            cells.add(OneTier.description(names.get(p)));
            table.row(cells.toArray());
        }
        table.print(out, "");
        out.flush();
    }
}
