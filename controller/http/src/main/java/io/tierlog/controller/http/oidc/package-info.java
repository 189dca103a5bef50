/* SPDX-License-Identifier: Apache-2.0 */
/** Tokens of an identity provider: JWTs by OpenID Connect, and the keys that sign them. Knows neither roles nor HTTP servers. */
@NullMarked
package io.tierlog.controller.http.oidc;

import org.jspecify.annotations.NullMarked;
