/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.http.JsonBody;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which namespace a query of the field's indexer interface is about: a text in which {model}, {tenant}, {lora} and {salt} stand for what the
 * query says. What a query says and the text has no place for is refused, for it would be answered with another's blocks. Without a tenant a query is
 * about the tenant "default"; an adapter and a salt that are left out are no text.
 *
 * @param template the text
 */
public record QueryNamespaces(String template) {
    /** The namespace is the model's name. */
    public static final QueryNamespaces MODEL = new QueryNamespaces("{model}");

    private static final Pattern PLACE = Pattern.compile("\\{(?:model|tenant|lora|salt)}");
    private static final int LONGEST = 256;
    /** Who asks without a tenant, as the interface has it. */
    private static final String NO_TENANT = "default";

    /** Refuses a text without the model. */
    public QueryNamespaces {
        if (!template.contains("{model}")) {
            throw new IllegalArgumentException("the template of namespaces '" + template + "' has no {model}");
        }
    }

    /** Tenant that a query is about; what is wrong is a finding. */
    static String tenant(JsonBody body) {
        String said = said(body, "tenant_id");
        return said.isEmpty() ? NO_TENANT : said;
    }

    /**
     * The namespace; what is wrong is a finding.
     *
     * @param tenant what {@link #tenant} says of the same query
     */
    String of(JsonBody body, String tenant) {
        Map<String, String> said = new LinkedHashMap<>();
        said.put("{model}", said(body, "model"));
        said.put("{tenant}", tenant);
        said.put("{lora}", placed(body, "lora_name", "{lora}"));
        said.put("{salt}", placed(body, "cache_salt", "{salt}"));
        if (said.getOrDefault("{model}", "").isEmpty()) {
            body.finding("model", "is missing");
        }
        if (!tenant.equals(NO_TENANT) && !template.contains("{tenant}")) {
            homeless(body, "tenant_id");
        }
        // In one pass, so that what a query says is never read as a place.
        return PLACE.matcher(template).replaceAll(place -> Matcher.quoteReplacement(said.getOrDefault(place.group(), "")));
    }

    private String placed(JsonBody body, String field, String place) {
        String said = said(body, field);
        if (!said.isEmpty() && !template.contains(place)) {
            homeless(body, field);
        }
        return said;
    }

    private void homeless(JsonBody body, String field) {
        body.finding(field, "has no place in the namespaces of this directory, which are: " + template);
    }

    private static String said(JsonBody body, String field) {
        return body.text(field, LONGEST).orElse("");
    }
}
