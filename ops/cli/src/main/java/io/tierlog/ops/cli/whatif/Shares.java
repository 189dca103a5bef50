/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.whatif;

import io.tierlog.ops.cli.command.CliError;
import java.math.BigDecimal;
import java.util.List;
import java.util.regex.Pattern;

/** Sizes of a tier in percent, as {@code --one-tier} takes them. Static and without state. */
final class Shares {
    private static final Pattern PERCENT = Pattern.compile("\\d{1,3}(\\.\\d{1,6})?%");
    private static final BigDecimal ALL = BigDecimal.valueOf(100);

    private Shares() {}

    /** The shares, 0 to 1, in the order in which they stand. */
    static List<Double> parse(List<String> texts) {
        return texts.stream().map(Shares::share).toList();
    }

    private static double share(String text) {
        if (!PERCENT.matcher(text).matches()) {
            throw wrong("'" + text + "' is no size in percent");
        }
        BigDecimal percent = new BigDecimal(text.substring(0, text.length() - 1));
        if (percent.signum() == 0 || percent.compareTo(ALL) > 0) {
            throw wrong(text + " must be more than 0% and at most 100%");
        }
        return percent.movePointLeft(2).doubleValue();
    }

    private static CliError wrong(String problem) {
        return new CliError("--one-tier: " + problem, "give shares of the unique blocks, for example: --one-tier 1%,5%,10%,25%", CliError.BAD_INPUT);
    }
}
