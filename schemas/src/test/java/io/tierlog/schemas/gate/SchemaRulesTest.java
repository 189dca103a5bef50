/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.gate;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.schemas.Envelope;
import java.util.List;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each rule stops what it is there for, and nothing else. */
class SchemaRulesTest {
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            {'name':'a','type':'string','doc':'Text.'}                    | ``
            {'name':'a','type':'string'}                                  | t.R.a has no doc
            {'name':'a','type':'string','doc':'  '}                       | t.R.a has no doc
            {'name':'count','type':'int','doc':'Blocks, count.'}          | ``
            {'name':'count','type':'int','doc':'Count.'}                  | t.R.count is a number whose doc says neither its unit nor what it counts
            {'name':'c','type':['null','long'],'doc':'Count.'}            | t.R.c is a number whose doc says neither its unit nor what it counts
            {'name':'c','type':{'type':'array','items':'float'},'doc':'x'} | t.R.c is a number whose doc says neither its unit nor what it counts
            {'name':'waitMs','type':'long','doc':'Wait.'}                 | ``
            {'name':'usedBytes','type':'long','doc':'Used.'}              | ``
            {'name':'e','type':{'type':'enum','name':'E','symbols':['UNKNOWN'],'default':'UNKNOWN','doc':'E.'},'doc':'E.'}      | ``
            {'name':'e','type':{'type':'enum','name':'E','symbols':['UNKNOWN'],'default':'UNKNOWN'},'doc':'E.'}                 | t.E has no doc
            {'name':'e','type':{'type':'enum','name':'E','symbols':['UNKNOWN','A'],'default':'A','doc':'E.'},'doc':'E.'} \
            | t.E has not the default UNKNOWN, so a symbol added later could not be read
            {'name':'m','type':{'type':'map','values':{'type':'record','name':'I','fields':[{'name':'x','type':'string','doc':'X.'}]}},'doc':'M.'} \
            | t.I has no doc
            {'name':'r','type':['null','R'],'doc':'Itself.'} | t.R contains itself: the depth of what is read would have no bound
            """)
    void fields(String field, String problem) {
        String json = "{'type':'record','name':'R','namespace':'t','doc':'R.','fields':[" + field + "]}";
        Schema schema = new Schema.Parser().parse(json.replace('\'', '"'));
        assertEquals(problem.isEmpty() ? List.of() : List.of(problem), SchemaRules.problems(schema));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({"t.Event,true", "t.Fact,true", "t.Command,true", "t.Published,false"})
    void recordsOfASenderStartWithTheirEnvelope(String family, boolean demanded) {
        Schema.Field envelope = new Schema.Field("envelope", Envelope.SCHEMA, "Who and when.");
        Schema.Field other = new Schema.Field("other", Schema.create(Schema.Type.STRING), "Another field.");
        List<String> problem = List.of("t.R must start with the field: io.tierlog.schemas.Envelope envelope");
        assertEquals(List.of(), SchemaRules.problems(record(family, envelope, other)));
        assertEquals(demanded ? problem : List.of(), SchemaRules.problems(record(family, other, envelope)));
        assertEquals(demanded ? problem : List.of(), SchemaRules.problems(record(family, other)));
    }

    private static Schema record(String family, Schema.Field... fields) {
        Schema record = Schema.createRecord("R", "A record.", "t", false);
        record.addProp("family", family);
        record.setFields(Stream.of(fields).map(field -> new Schema.Field(field, field.schema())).toList());
        return record;
    }
}
