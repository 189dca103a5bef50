/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http.oidc;

/** A token that is not accepted, and why, in words for its sender. */
public final class OidcRefusedException extends Exception {
    private static final long serialVersionUID = 1L;

    OidcRefusedException(String why) {
        super(why, null, false, false);
    }
}
