/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the transfer benchmark came to, as {@code --format json} prints it: one object. GB are 10^9 bytes.
 *
 * @param tiers a part for each tier, and for each layout of the device
 * @param notes what was not run, and why
 * @param blockBytes bytes of a block
 * @param blocks blocks moved by each way in each round
 * @param depth transfers under way on disk and store
 * @param rounds rounds that were measured
 * @param elapsedS seconds the whole run took
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TransferReport(
        List<Tier> tiers,
        List<String> notes,
        @JsonProperty("block_bytes") int blockBytes,
        int blocks,
        int depth,
        int rounds,
        @JsonProperty("elapsed_s") double elapsedS) {
    private static final double THOUSAND = 1_000;

    /** A tier, how it was reached, and each direction. */
    public record Tier(String title, List<Direction> directions) {}

    /**
     * One direction of a tier.
     *
     * @param name what moved where
     * @param tierlog the agent's way
     * @param others what it was held against
     * @param aim least ratio to the first of them; absent when there is none
     * @param met whether that was reached; absent likewise
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Direction(String name, Speed tierlog, List<Other> others, @Nullable Double aim, @Nullable Boolean met) {}

    /**
     * How fast one way was.
     *
     * @param gbPerS median of the rounds
     * @param lowest the slowest round
     * @param highest the fastest round
     * @param p50Ms median time of a block, the median of the rounds
     * @param p99Ms 99th percentile of the time of a block, the median of the rounds
     */
    public record Speed(
            @JsonProperty("gb_per_s") double gbPerS,
            double lowest,
            double highest,
            @JsonProperty("p50_ms") double p50Ms,
            @JsonProperty("p99_ms") double p99Ms) {
        static Speed of(Series series) {
            return new Speed(
                    round(series.gbPerS()), round(series.lowest()), round(series.highest()), round(series.p50Ms()), round(series.p99Ms()));
        }
    }

    /** Another way, and our GB/s as a share of its. */
    public record Other(String name, Speed speed, double ratio) {}

    /** A contest and the runs of its ways. */
    static Direction direction(Contest contest, Map<Way, Series> runs) {
        Series ours = of(runs, contest.ours());
        List<Other> others = contest.others().stream()
                .map(way -> new Other(way.name(), Speed.of(of(runs, way)), round(ours.gbPerS() / of(runs, way).gbPerS())))
                .toList();
        boolean judged = contest.aim() > 0 && !others.isEmpty();
        return new Direction(
                contest.name(),
                Speed.of(ours),
                others,
                judged ? Double.valueOf(contest.aim()) : null,
                judged ? Boolean.valueOf(others.getFirst().ratio() >= contest.aim()) : null);
    }

    private static Series of(Map<Way, Series> runs, Way way) {
        Series series = runs.get(way);
        if (series == null) {
            throw new IllegalStateException(way.name() + " has not been run");
        }
        return series;
    }

    static double round(double value) {
        return Math.round(value * THOUSAND) / THOUSAND;
    }
}
