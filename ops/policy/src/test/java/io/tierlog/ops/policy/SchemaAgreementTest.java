/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.schemas.Policy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The JSON Schema and the reader say the same: of a full document, every field is left out and replaced by every one of a list of values, and
 * what one refuses the other refuses, except for rules between fields, which no schema can say.
 */
class SchemaAgreementTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Schema SCHEMA = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12).getSchema(PolicyDocument.schema());

    /** Of each type, at the bounds and beyond; sizes and times with units and without. */
    private static final List<String> VALUES = Stream.of(
            "null", "true", "false", "0", "1", "2", "-1", "1000", "1001", "0.5", "0.0000001", "0.000001", "1.5", "1e3", "2147483647", "2147483648",
            "9007199254740992", "9007199254740993", "1e40", "''", "'x'", "'a b'", "'1'", "'0B'", "'1B'", "'1.5KiB'", "'4GB'", "'30s'", "'0s'",
            "'-1s'", "'0.0m'", "'1 h'", "'25 hours'", "'write_back'", "'WRITE_BACK'", "'on_write'", "'host'", "'disk'", "'store'", "'device'",
            "'copy'", "'mark'", "'delete_source'", "'keep_both'", "'unknown'", "[]", "['copy']", "['mark']", "['mark','copy']", "['copy','copy']",
            "['x']", "['']",
            "[1]",
            "'lru'", "'gaps'", "{'order':'gaps'}", "{'capacity':0,'order':'lru'}",
            "{}", "{'high':0.5}", "{'high':0.5,'low':0.4}", "{'high':2}", "{'quota':'1GiB'}", "{'host':{}}", "{'store':{}}", "{'name':'a'}", "[{}]",
            "[{'name':'a','namespaces':['*']}]", "[{'name':'b','namespaces':['*'],'x':1}]",
            "[{'source':'host','target':'disk','threshold':0.5,'methods':['copy'],'retention':'keep_both'}]",
            "[{'source':'host','target':'disk','threshold':0.5,'methods':['copy']}]").map(text -> text.replace('\'', '"')).toList();

    /** Reasons of findings that compare fields with each other, or a size or time that is written with a unit with its bound. */
    private static final List<String> BETWEEN_FIELDS = List.of("said once", "in a circle", "colder than", "another tier", "to the high mark",
            "both marks 0", "its own", "patterns in all");

    private record Verdicts(int both, int neither, int onlyReader) {}

    @Test
    void theyAgreeOnEveryChangeOfEveryField() throws Exception {
        ObjectNode full = (ObjectNode) JSON.readTree(JSON.writeValueAsString(PolicyDocument.fields(PolicyDocumentTest.FULL_POLICY)));
        Verdicts sum = new Verdicts(0, 0, 0);
        for (String pointer : pointers("", full)) {
            for (JsonNode variant : variants(full, pointer)) {
                sum = verdict(sum, variant);
            }
        }
        // Both kinds are met often, or the comparison says nothing.
        assertTrue(sum.both > 2_000 && sum.neither > 150 && sum.onlyReader > 20, sum.toString());
    }

    private static Verdicts verdict(Verdicts sum, JsonNode document) {
        boolean schemaTakes = SCHEMA.validate(document).isEmpty();
        Reading reading = PolicyDocument.read(document.toString(), Policies.INITIAL, Limits.DEFAULTS);
        if (reading instanceof Reading.Valid) {
            assertTrue(schemaTakes, () -> "only the schema refuses " + document + ": " + SCHEMA.validate(document));
            return new Verdicts(sum.both, sum.neither + 1, sum.onlyReader);
        }
        Reading.Invalid invalid = (Reading.Invalid) reading;
        boolean onlyBetween = invalid.findings().stream().allMatch(SchemaAgreementTest::isBetweenFields);
        assertTrue(!schemaTakes || onlyBetween, () -> "only the reader refuses " + document + ": " + invalid);
        return schemaTakes ? new Verdicts(sum.both, sum.neither, sum.onlyReader + 1) : new Verdicts(sum.both + 1, sum.neither, sum.onlyReader);
    }

    private static boolean isBetweenFields(Finding finding) {
        return BETWEEN_FIELDS.stream().anyMatch(finding.reason()::contains);
    }

    private static List<String> pointers(String at, JsonNode node) {
        List<String> all = new ArrayList<>();
        for (Map.Entry<String, JsonNode> field : node.properties()) {
            all.add(at + "/" + field.getKey());
            all.addAll(pointers(at + "/" + field.getKey(), field.getValue()));
        }
        for (int i = 0; node.isArray() && i < node.size(); i++) {
            all.add(at + "/" + i);
            all.addAll(pointers(at + "/" + i, node.get(i)));
        }
        return all;
    }

    /** The document without the field, with another one beside it, and with each value in its place. */
    private static List<JsonNode> variants(JsonNode full, String pointer) throws Exception {
        String parent = pointer.substring(0, pointer.lastIndexOf('/'));
        String name = pointer.substring(pointer.lastIndexOf('/') + 1);
        List<JsonNode> variants = new ArrayList<>();
        List<String> values = new ArrayList<>(VALUES);
        values.add("");
        for (String value : values) {
            JsonNode copy = full.deepCopy();
            switch (copy.at(parent)) {
                case ObjectNode object when value.isEmpty() -> {
                    object.remove(name);
                    variants.add(copy.deepCopy());
                    object.put("unheard_of", 1);
                }
                case ObjectNode object -> object.set(name, JSON.readTree(value));
                case ArrayNode array when value.isEmpty() -> array.remove(Integer.parseInt(name));
                case ArrayNode array -> array.set(Integer.parseInt(name), JSON.readTree(value));
                default -> throw new AssertionError(parent);
            }
            variants.add(copy);
        }
        return variants;
    }

    @Test
    void theyAgreeOnDocuments() throws Exception {
        for (String good : List.of("{}", "{\"groups\":[]}", JSON.writeValueAsString(PolicyDocument.fields(PolicyDocumentTest.FULL_POLICY)),
                JSON.writeValueAsString(PolicyDocument.fields(Policies.INITIAL)))) {
            assertEquals(List.of(), SCHEMA.validate(JSON.readTree(good)), good);
            PolicyDocumentTest.valid(good);
        }
        for (String bad : List.of("[]", "1", "null", "\"x\"")) {
            assertTrue(!SCHEMA.validate(JSON.readTree(bad)).isEmpty(), bad);
            assertTrue(PolicyDocument.read(bad, Policies.INITIAL, Limits.DEFAULTS) instanceof Reading.Invalid, bad);
        }
    }

    /** A default that the schema names is the one that a document without the field has. */
    @Test
    void theDefaultsOfTheSchemaAreThoseOfTheCore() throws Exception {
        JsonNode schema = JSON.readTree(PolicyDocument.schema());
        int defaults = defaults(schema, JSON.valueToTree(PolicyDocument.fields(Policies.INITIAL)));
        assertEquals(29, defaults);
        Policy policy = PolicyDocumentTest.valid("{}");
        assertEquals(Policies.INITIAL, policy);
    }

    private static int defaults(JsonNode schema, JsonNode value) {
        int count = 0;
        for (Map.Entry<String, JsonNode> field : schema.path("properties").properties()) {
            JsonNode own = value.path(field.getKey());
            if (field.getValue().has("default")) {
                assertEquals(field.getValue().get("default"), own, field.getKey());
                count++;
            }
            count += defaults(field.getValue(), own);
        }
        return count;
    }
}
