/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.command;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times as people write them: 500ms, 60s, 5m, 24h. Static and without state. */
public final class TimeText {
    private static final Pattern TIME = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");

    private TimeText() {}

    /**
     * Milliseconds.
     *
     * @throws CliError when the text is not a time
     */
    public static long parse(String flag, String text) {
        Matcher matcher = TIME.matcher(text);
        if (!matcher.matches()) {
            throw new CliError(flag + " " + text + " is not a time", "write a number and ms, s, m, h or d, for example 60s", CliError.BAD_INPUT);
        }
        long unitMs = switch (matcher.group(2)) {
            case "ms" -> 1;
            case "s" -> 1_000;
            case "m" -> 60_000;
            case "h" -> 3_600_000;
            default -> 86_400_000;
        };
        return Long.parseLong(matcher.group(1)) * unitMs;
    }
}
