/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

/**
 * What the controller answered to a policy.
 *
 * @param id of the answer
 * @param atMs when, milliseconds since 1970
 * @param what APPLIED, REFUSED or the kind of a warning
 * @param version the version; 0 of a refused one
 * @param detail findings, or what a warning says
 */
public record PolicyAnswer(String id, long atMs, String what, long version, String detail) {
    /** It is a version now. */
    public static final String APPLIED = "APPLIED";

    /** It was refused. */
    public static final String REFUSED = "REFUSED";
}
