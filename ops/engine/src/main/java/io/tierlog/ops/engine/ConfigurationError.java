/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

/** A flag with a value that cannot work. */
public final class ConfigurationError extends Exception {
    private static final long serialVersionUID = 1L;

    private final String flag;

    /** {@code flag} as it is written on the command line. */
    public ConfigurationError(String flag, String problem) {
        super(flag + ": " + problem);
        this.flag = flag;
    }

    /** The flag, dashes included. */
    public String flag() {
        return flag;
    }
}
