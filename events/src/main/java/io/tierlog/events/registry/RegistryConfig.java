/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import java.net.URI;
import java.util.List;

/**
 * Where the registry is and how to talk to it.
 *
 * @param baseUrls one per instance of the same registry, asked in this order beginning with the one that answered last; each is what
 *     stands before {@code /subjects}, for example {@code http://registry:8081} or {@code http://registry:8080/apis/ccompat/v7}
 * @param credentials sent with every request; over plain http any host on the way can read them
 * @param limits the bounds
 */
public record RegistryConfig(List<URI> baseUrls, Credentials credentials, RegistryLimits limits) {
    private static final int MAX_BASE_URLS = 16;

    /** Refuses addresses that cannot be asked, or that carry a secret which would show up in messages. */
    public RegistryConfig {
        if (baseUrls.isEmpty() || baseUrls.size() > MAX_BASE_URLS) {
            throw new IllegalArgumentException("a registry has 1 to " + MAX_BASE_URLS + " base URLs, not " + baseUrls.size());
        }
        baseUrls = baseUrls.stream().map(RegistryConfig::checked).toList();
    }

    /** One registry without credentials, with the default limits. */
    public static RegistryConfig of(String baseUrl) {
        return new RegistryConfig(List.of(URI.create(baseUrl)), Credentials.NONE, RegistryLimits.DEFAULTS);
    }

    private static URI checked(URI url) {
        if (url.getRawUserInfo() != null) {
            throw new IllegalArgumentException("give the credentials for " + url.getHost() + " apart from the base URL");
        }
        if (!"http".equals(url.getScheme()) && !"https".equals(url.getScheme())) {
            throw new IllegalArgumentException(url + " is neither http nor https");
        }
        if (url.getHost() == null || url.getRawQuery() != null || url.getRawFragment() != null) {
            throw new IllegalArgumentException(url + " is not a base URL: it needs a host, and neither query nor fragment");
        }
        String text = url.toString();
        return text.endsWith("/") ? URI.create(text.substring(0, text.length() - 1)) : url;
    }
}
