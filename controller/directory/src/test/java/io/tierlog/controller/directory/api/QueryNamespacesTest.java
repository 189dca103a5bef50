/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.http.JsonBody;
import io.tierlog.controller.http.Problem;
import org.junit.jupiter.api.Test;

/** The namespace of a query: present fields, missing ones, and ones that are not in the template. */
class QueryNamespacesTest {
    /** The namespace, and the tenant of the response; the query has single quotes. */
    private static String of(String template, String query) throws Exception {
        JsonBody body = JsonBody.of((ObjectNode) new ObjectMapper().readTree(query.replace('\'', '"')));
        String tenant = QueryNamespaces.tenant(body);
        String namespace = new QueryNamespaces(template).of(body, "model", tenant);
        body.done();
        return namespace + " for " + tenant;
    }

    private static String refused(String template, String query) {
        Problem problem = assertThrows(Problem.class, () -> of(template, query), query);
        return String.join(",", problem.findings().stream().map(Problem.Finding::field).toList());
    }

    @Test
    void aTenantThatIsLeftOutIsTheDefaultInTheNamespaceToo() throws Exception {
        assertEquals("default/m for default", of("{tenant}/{model}", "{'model':'m'}"));
        assertEquals("default/m for default", of("{tenant}/{model}", "{'model':'m','tenant_id':''}"));
        assertEquals("default/m for default", of("{tenant}/{model}", "{'model':'m','tenant_id':'default'}"));
        assertEquals("t1/m for t1", of("{tenant}/{model}", "{'model':'m','tenant_id':'t1'}"));
        assertEquals("m for default", of("{model}", "{'model':'m','tenant_id':'default'}"));
    }

    @Test
    void anAdapterAndASaltThatAreLeftOutAreNoText() throws Exception {
        String template = "{model}+{lora}#{salt}";
        assertEquals("m+# for default", of(template, "{'model':'m'}"));
        assertEquals("m+l# for default", of(template, "{'model':'m','lora_name':'l'}"));
        assertEquals("m+#s for default", of(template, "{'model':'m','cache_salt':'s'}"));
        assertEquals("t/m+l#s for t", of("{tenant}/" + template,
                "{'model':'m','lora_name':'l','cache_salt':'s','tenant_id':'t'}"));
    }

    /** Else it would be answered with the blocks of the plain model, or of another tenant. */
    @Test
    void whatHasNoPlaceIsRefused() {
        assertEquals("tenant_id", refused("{model}", "{'model':'m','tenant_id':'t1'}"));
        assertEquals("lora_name", refused("{tenant}/{model}", "{'model':'m','lora_name':'l'}"));
        // "default" is the name of a tenant; an adapter of that name is an adapter.
        assertEquals("lora_name,cache_salt", refused("{model}",
                "{'model':'m','lora_name':'default','cache_salt':'default'}"));
        assertEquals("model", refused("{model}", "{'model':''}"));
        assertEquals("tenant_id", refused("{tenant}/{model}", "{'model':'m','tenant_id':7}"), "a finding is listed once");
        assertThrows(IllegalArgumentException.class, () -> new QueryNamespaces("{tenant}"));
    }

    @Test
    void aFieldsValueIsNeverReadAsAPlaceholder() throws Exception {
        assertEquals("t/{tenant}$1 for t", of("{tenant}/{model}", "{'model':'{tenant}$1','tenant_id':'t'}"));
    }
}
