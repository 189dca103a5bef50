/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http.oidc;

import java.util.Optional;

/**
 * Which tokens of an identity provider are accepted, and what they permit.
 *
 * @param issuer whom the claim iss must name
 * @param audience that the claim aud must contain
 * @param keys the provider's keys, a JWK set: an http or https URL, or a file
 * @param rolesClaim name of the claim with the roles of a caller: a list of texts, or one text with spaces
 * @param operatorRole the role that may change
 * @param readerRole the role that may read
 * @param namespacesClaim name of the claim with the namespaces that a caller may see; empty when all may see all
 */
public record OidcRules(
        String issuer, String audience, String keys, String rolesClaim, String operatorRole, String readerRole, Optional<String> namespacesClaim) {}
