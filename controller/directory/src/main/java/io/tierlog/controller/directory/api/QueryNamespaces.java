/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import io.tierlog.controller.door.Fields;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which namespace a query of the field's indexer interface is about: a text in which {model}, {tenant}, {lora} and {salt} stand for what the
 * query says. What a query says and the text has no place for is refused, for it would be answered with another's blocks.
 *
 * @param template the text
 */
public record QueryNamespaces(String template) {
    /** The namespace is the model's name. */
    public static final QueryNamespaces MODEL = new QueryNamespaces("{model}");

    private static final Map<String, String> FIELDS = new LinkedHashMap<>(
            Map.of("{model}", "model", "{tenant}", "tenant_id", "{lora}", "lora_name", "{salt}", "cache_salt"));
    private static final int LONGEST = 256;

    /** Refuses a text without the model. */
    public QueryNamespaces {
        if (!template.contains("{model}")) {
            throw new IllegalArgumentException("the template of namespaces '" + template + "' has no {model}");
        }
    }

    /** Tenant that a query is about. */
    static String tenant(Fields body) {
        return body.text("tenant_id", LONGEST).orElse("default");
    }

    /** The namespace; what is wrong is a finding. */
    String of(Fields body) {
        String text = template;
        for (Map.Entry<String, String> field : FIELDS.entrySet()) {
            String said = body.text(field.getValue(), LONGEST).orElse("");
            boolean model = field.getValue().equals("model");
            if (model && said.isEmpty()) {
                body.finding("model", "is missing");
            }
            if (!said.isEmpty() && !template.contains(field.getKey()) && !said.equals("default")) {
                body.finding(field.getValue(), "has no place in the namespaces of this directory, which are: " + template);
            }
            text = text.replace(field.getKey(), said);
        }
        return text;
    }
}
