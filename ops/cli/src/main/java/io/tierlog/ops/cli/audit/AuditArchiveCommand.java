/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.audit.LogArchive;
import io.tierlog.ops.audit.WatchedLog;
import io.tierlog.ops.cli.command.ClusterOptions;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog audit archive}: a log as files that can be asked. */
@Command(
        name = "archive",
        description = "Copy a log to files that every command with --log reads, or add to them what the log has gained since.",
        footer = {
            "",
            "The committed events, decisions, commands and signed heads are copied as they are, also what cannot be decoded.",
            "Run it again with the same directory, before each trim: it adds what is new. A round that is killed adds nothing, and the next one does",
            "its work.",
            "Exit codes: 0 written, 2 the log cannot be read, the directory cannot be written, or the archive is of another log."
        })
final class AuditArchiveCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Mixin
    AuditOptions audit;

    @Option(names = "--out", paramLabel = "DIR", required = true, description = "Directory of the archive; made when it is not there.")
    Path out;

    @Override
    public Integer call() throws Exception {
        PrintWriter err = spec.commandLine().getErr();
        List<LogArchive.Added> added = audit.read(cluster, source -> append(err, source, cluster, audit.log == null
                ? cluster.kafka().bootstrapServers() : audit.log.toString(), out, audit.threads()));
        ObjectNode json = new ObjectMapper().createObjectNode();
        ArrayNode rows = json.putArray("added");
        added.forEach(one -> rows.addObject().put("topic", one.topic()).put("records", one.records()).put("file_bytes", one.bytes()));
        PrintWriter to = spec.commandLine().getOut();
        switch (audit.format) {
            case text -> RowTable.of("added", rows).print(to, "no topics");
            case json -> to.println(new ObjectMapper().writeValueAsString(json));
        }
        to.flush();
        return 0;
    }

    /** One round, with its progress. */
    static List<LogArchive.Added> append(PrintWriter err, WatchedLog source, ClusterOptions cluster, String from, Path to, int threads)
            throws InterruptedException {
        LogArchive archive = new LogArchive(source, cluster.topics(), threads);
        return LogChoice.withProgress(err, source, () -> archive.append(to, from, System.currentTimeMillis()));
    }
}
