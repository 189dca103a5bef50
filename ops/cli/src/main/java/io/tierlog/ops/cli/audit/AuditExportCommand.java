/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.ops.audit.export.Exporter;
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

/** {@code tierlog audit export}: a stretch of a log as tables. */
@Command(
        name = "export",
        description = "Write a stretch of a log as Avro files: events.avro, decisions.avro, and placements.avro with when each block served where.",
        footer = {
            "",
            "DuckDB, Spark and pandas (with fastavro) read them. Prompts are not in a log, only the keys of their blocks. A placement that serves at",
            "the end has no end; one that began before the stretch is there with its real beginning. A file that is there already is kept, and",
            "the command refused.",
            StretchOptions.MOMENTS,
            "Exit codes: 0 written, 2 wrong input, or the log cannot be read, or the files cannot be written."
        })
final class AuditExportCommand implements Callable<Integer> {
    @Spec
    CommandSpec spec;

    @Mixin
    ClusterOptions cluster;

    @Mixin
    AuditOptions audit;

    @Mixin
    StretchOptions stretch;

    @Option(names = "--out", paramLabel = "DIR", required = true, description = "Directory for the files; made when it is not there.")
    Path out;

    @Override
    public Integer call() throws Exception {
        ObjectNode json = new ObjectMapper().createObjectNode();
        List<Exporter.Table> tables = audit.read(cluster, source -> {
            Exporter exporter = new Exporter(source, cluster.topics(), cluster.codec());
            List<Exporter.Table> written = LogChoice.withProgress(
                    spec.commandLine().getErr(), source, () -> exporter.write(out, stretch.stretch(cluster.topics())));
            json.put("unreadable_before", exporter.unreadableBefore());
            return written;
        });
        ArrayNode rows = json.putArray("tables");
        tables.forEach(table -> rows.addObject().put("table", table.name()).put("rows", table.rows()).put("file_bytes", table.bytes())
                .put("file", table.file().toString()));
        PrintWriter to = spec.commandLine().getOut();
        switch (audit.format) {
            case text -> {
                RowTable.of("tables", rows).print(to, "no tables");
                if (json.path("unreadable_before").asLong() > 0) {
                    to.println(json.path("unreadable_before") + " decisions before the stretch cannot be decoded: placements that began or ended by "
                            + "them are wrong; audit verify names them");
                }
            }
            case json -> to.println(new ObjectMapper().writeValueAsString(json));
        }
        to.flush();
        return 0;
    }
}
