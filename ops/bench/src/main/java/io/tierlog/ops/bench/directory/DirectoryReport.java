/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the directory benchmark came to, as {@code --format json} prints it: one object.
 *
 * @param rounds one for each number of blocks
 * @param clients callers at once
 * @param redis its version, or why it was not run
 * @param elapsedS of all, in seconds
 */
public record DirectoryReport(
        @JsonProperty("rounds") List<Round> rounds,
        @JsonProperty("clients") int clients,
        @JsonProperty("redis") String redis,
        @JsonProperty("elapsed_s") double elapsedS) {
    /**
     * One number of blocks.
     *
     * @param loadS from the first placement written until all are answered, in seconds
     * @param indexBytes of the index for each block, outside of the heap
     * @param residentBytes of the whole directory process for each block
     * @param diskBytes of the directory's state for each block
     * @param redisBytes that Redis says it uses for each block; null when it was not run
     * @param rows all ways, batches and shares
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Round(
            @JsonProperty("blocks") int blocks,
            @JsonProperty("load_s") double loadS,
            @JsonProperty("index_bytes_per_block") double indexBytes,
            @JsonProperty("resident_bytes_per_block") double residentBytes,
            @JsonProperty("disk_bytes_per_block") double diskBytes,
            @JsonProperty("redis_bytes_per_block") @Nullable Double redisBytes,
            @JsonProperty("rows") List<Row> rows) {}

    /**
     * One way with one batch and share.
     *
     * @param ask exist or lookup
     * @param keysPerCore keys for each second of the server's processor; in process that is the caller's too
     * @param wrong answers that were not right
     */
    public record Row(
            @JsonProperty("ask") String ask,
            @JsonProperty("batch") int batch,
            @JsonProperty("present") int present,
            @JsonProperty("way") String way,
            @JsonProperty("keys_per_s") double keysPerS,
            @JsonProperty("keys_per_core_s") double keysPerCore,
            @JsonProperty("p50_us") double p50Us,
            @JsonProperty("p99_us") double p99Us,
            @JsonProperty("wrong") long wrong) {}

    /** Whether every answer was right. */
    public boolean right() {
        return rounds.stream().flatMap(round -> round.rows().stream()).allMatch(row -> row.wrong() == 0);
    }
}
