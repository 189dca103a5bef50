/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

/**
 * How large a document may be; what is larger is not read. How many groups, patterns and routes a policy may have is the core's to say.
 *
 * @param bytes longest file, in bytes, and longest text, in characters
 * @param depth deepest nesting of mappings and lists
 * @param values most keys, values, mappings and lists
 * @param findings most findings that are listed
 */
public record DocumentLimits(int bytes, int depth, int values, int findings) {
    /** Some three times what the largest policy takes. */
    public static final DocumentLimits DEFAULTS = new DocumentLimits(1 << 20, 16, 20_000, 1_000);
}
