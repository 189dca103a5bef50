/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.http.JsonBody;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The namespace of a query of the indexer interface: a template in which {model}, {tenant}, {lora} and {salt} stand for fields of the query. A query
 * with a field that the template does not contain is refused, since its answer would be another namespace's blocks. The default tenant is "default";
 * a missing adapter or salt is empty text.
 *
 * @param template the text
 */
public record QueryNamespaces(String template) {
    /** The namespace is the model's name. */
    public static final QueryNamespaces MODEL = new QueryNamespaces("{model}");

    private static final Pattern PLACE = Pattern.compile("\\{(?:model|tenant|lora|salt)}");
    private static final int LONGEST = 256;
    /** The default tenant of the interface. */
    private static final String NO_TENANT = "default";

    /** Refuses a text without the model. */
    public QueryNamespaces {
        if (!template.contains("{model}")) {
            throw new IllegalArgumentException("the template of namespaces '" + template + "' has no {model}");
        }
    }

    /** The tenant of a query; an invalid one is a finding. */
    static String tenant(JsonBody body) {
        String value = text(body, "tenant_id");
        return value.isEmpty() ? NO_TENANT : value;
    }

    /**
     * The namespace; an invalid field is a finding.
     *
     * @param field has the model
     * @param tenant the result of {@link #tenant} for the same query
     */
    String of(JsonBody body, String field, String tenant) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("{model}", text(body, field));
        values.put("{tenant}", tenant);
        values.put("{lora}", placed(body, "lora_name", "{lora}"));
        values.put("{salt}", placed(body, "cache_salt", "{salt}"));
        if (values.getOrDefault("{model}", "").isEmpty()) {
            body.finding(field, "is missing");
        }
        if (!tenant.equals(NO_TENANT) && !template.contains("{tenant}")) {
            homeless(body, "tenant_id");
        }
        // In one pass, so that a field's value is never read as a placeholder.
        return PLACE.matcher(template).replaceAll(place -> Matcher.quoteReplacement(values.getOrDefault(place.group(), "")));
    }

    /** The namespace of a query that names the model alone, and the default tenant. */
    String ofModel(String model) {
        Map<String, String> values = Map.of("{model}", model, "{tenant}", NO_TENANT);
        return PLACE.matcher(template).replaceAll(place -> Matcher.quoteReplacement(values.getOrDefault(place.group(), "")));
    }

    private String placed(JsonBody body, String field, String place) {
        String value = text(body, field);
        if (!value.isEmpty() && !template.contains(place)) {
            homeless(body, field);
        }
        return value;
    }

    private void homeless(JsonBody body, String field) {
        body.finding(field, "is not part of this directory's namespace template, which is: " + template);
    }

    private static String text(JsonBody body, String field) {
        return body.text(field, LONGEST).orElse("");
    }
}
