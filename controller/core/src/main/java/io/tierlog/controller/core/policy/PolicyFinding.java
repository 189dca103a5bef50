/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.policy;

/**
 * One thing that is wrong with a policy.
 *
 * @param path the field, as the policy document names it: {@code groups[1].routes[0].threshold}
 * @param reason what it must be, in words that follow the path
 */
public record PolicyFinding(String path, String reason) {
    /** Both, as it stands in a record. */
    @Override
    public String toString() {
        return path + ": " + reason;
    }
}
