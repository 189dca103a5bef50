/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Documents that are not a policy, each with its finding: line, path and reason. */
class BadDocumentsTest {
    private static List<String> findings(String text) {
        Reading reading = PolicyDocument.read(text.getBytes(StandardCharsets.UTF_8));
        return assertInstanceOf(Reading.Invalid.class, reading, reading.toString()).findings().stream().map(Finding::toString).toList();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', value = {
        "prefetch_treshold: 3 | line 1: prefetch_treshold: is unknown; known here are back_up, copy_to_disk, expiry, fetch, groups, lease,"
                + " marks, node_silent_ticks, operation_timeout, prefetch_threshold, reclaim, store, throttle, tiers, write_policy",
        "reclaim: {host: {hihg: 1}}                      | line 1: reclaim.host.hihg: is unknown; known here are high, low",
        "lease: 1s\\nlease: 2s                           | line 2: lease: is given twice, first in line 1",
        "prefetch_threshold: two                         | line 1: prefetch_threshold: must be a whole number, not the text 'two'",
        "prefetch_threshold: 1.5                         | line 1: prefetch_threshold: must be a whole number, not 1.5",
        "prefetch_threshold: 2147483648                  | line 1: prefetch_threshold: must be a whole number, not 2147483648",
        "prefetch_threshold: '2'                         | line 1: prefetch_threshold: must be a whole number, not the text '2'",
        "prefetch_threshold:                             | line 1: prefetch_threshold: must be a whole number, not empty",
        "prefetch_threshold: -1                          | line 1: prefetch_threshold: must be 0 or more, not -1",
        "back_up: 1                                      | line 1: back_up: must be true or false, not 1",
        "back_up: yes                                    | line 1: back_up: must be true or false, not the text 'yes'",
        "write_policy: WRITE_BACK | line 1: write_policy: must be write_back or write_through or write_through_selective, not the"
                + " text 'WRITE_BACK'",
        "write_policy: unknown | line 1: write_policy: must be write_back or write_through or write_through_selective, not the"
                + " text 'unknown'",
        "lease: 30                                       | line 1: lease: must be a time such as 30s, with ms, s, m or h, not 30",
        "lease: 30sec                                    | line 1: lease: must be a time such as 30s, with ms, s, m or h, not the text '30sec'",
        "lease: 0.5ms                                    | line 1: lease: must be a time such as 30s, with ms, s, m or h, not the text '0.5ms'",
        "lease: 25h                                      | line 1: lease: must be from 1 to 86400000, not 90000000",
        "operation_timeout: 0s                           | line 1: operation_timeout: must be from 1 to 86400000, not 0",
        "node_silent_ticks: -1                           | line 1: node_silent_ticks: must be 0 or more, not -1",
        "reclaim: 0.9                                    | line 1: reclaim: must be a mapping of fields, not 0.9",
        "reclaim: {batch: 1001}                          | line 1: reclaim.batch: must be from 1 to 1000, not 1001",
        "reclaim:\\n  disk:\\n    high: 2                | line 3: reclaim.disk.high: must be from 1.0E-6 to 1, or both marks 0 for no water level",
        "reclaim:\\n  host:\\n    high: 0.7              | line 2: reclaim.host.low: must be from 1.0E-6 to the high mark, which is 0.7, not 0.8",
        "reclaim: {host: {high: 90%}}                    | line 1: reclaim.host.high: must be a number, not the text '90%'",
        "reclaim: {host: {high: .nan}}                   | line 1: reclaim.host.high: must be from 1.0E-6 to 1, or both marks 0 for no water level",
        "marks: {timeout: 0s}                            | line 1: marks.timeout: must be from 1 to 31536000000, not 0",
        "marks: {timeout: -1s}                           | line 1: marks.timeout: must be a time such as 30s, with ms, s, m or h, not the text '-1s'",
        "marks: {clear: never}                           | line 1: marks.clear: must be on_write or on_expiry, not the text 'never'",
        "fetch: {promotion: {operations: 0}}             | line 1: fetch.promotion.operations: must be from 1 to 1024, not 0",
        "fetch: {promotion: {operation_blocks: 1001}}    | line 1: fetch.promotion.operation_blocks: must be from 1 to 1000, not 1001",
        "fetch: {promotion: {queued_blocks: 16385}}      | line 1: fetch.promotion.queued_blocks: must be from 0 to 16384, not 16385",
        "fetch: {promotion: {dedup: 25h}}                | line 1: fetch.promotion.dedup: must be from 0 to 86400000, not 90000000",
        "fetch: {promotion: {cooldown: 25h}}             | line 1: fetch.promotion.cooldown: must be from 0 to 86400000, not 90000000",
        "fetch: {peers: {reads: 0}}                      | line 1: fetch.peers.reads: must be from 1 to 1024, not 0",
        "fetch: {peers: {lent_blocks: 0}}                | line 1: fetch.peers.lent_blocks: must be from 1 to 1048576, not 0",
        "fetch: {peers: {grant: 0s}}                     | line 1: fetch.peers.grant: must be from 1 to 86400000, not 0",
        "fetch: {peers: {host_block_micros: 0}}          | line 1: fetch.peers.host_block_micros: must be from 1 to 2147483647, not 0",
        "throttle: {migrations: 0}                       | line 1: throttle.migrations: must be 1 or more, not 0",
        "throttle: {bytes: 0}                            | line 1: throttle.bytes: must be from 1 to 9007199254740992, not 0",
        "throttle: {bytes: 4GB} | line 1: throttle.bytes: must be a size such as 64MiB, with B, KiB, MiB, GiB or TiB, or a whole"
                + " number of bytes, not the text '4GB'",
        "throttle: {bytes: 1e30} | line 1: throttle.bytes: must be a size such as 64MiB, with B, KiB, MiB, GiB or TiB, or a whole"
                + " number of bytes, not 1E+30",
        "groups: {}                                      | line 1: groups: must be a list, not a mapping",
        "groups: [gold]                                  | line 1: groups[0]: must be a mapping of fields, not the text 'gold'",
        "groups: [{name: '', namespaces: [a]}]           | line 1: groups[0].name: must be 1 to 64 letters, digits, '-', '_' or '.'",
        "groups: [{name: 7, namespaces: [a]}]            | line 1: groups[0].name: must be a text, not 7",
        "groups:\\n- {name: a, namespaces: [a]}\\n- {name: a, namespaces: [b]} | line 3: groups[1].name: must be its own, and groups[0] has it too",
        "groups: [{namespaces: [a]}]                     | line 1: groups[0].name: is missing",
        "groups: [{name: a}]                             | line 1: groups[0].namespaces: is missing",
        "groups: [{name: a, namespaces: []}]             | line 1: groups[0].namespaces: must have at least one pattern",
        "groups: [{name: a, namespaces: ['']}]           | line 1: groups[0].namespaces[0]: must be a pattern of 1 to 1024 characters",
        "groups: [{name: a, namespaces: [a, 1]}]         | line 1: groups[0].namespaces[1]: must be a text, not 1",
        "groups: [{name: a, namespaces: [a], quota: -1}] | line 1: groups[0].quota: must be from 0 to 9007199254740992 bytes",
        "groups: [{name: a, namespaces: [a], quota: 8193TiB}] | line 1: groups[0].quota: must be from 0 to 9007199254740992 bytes",
        "groups: [{name: a, namespaces: [a], quota: ~}] | line 1: groups[0].quota: must be a size such as 64MiB, with B, KiB, MiB, GiB or TiB,"
                + " or a whole"
                + " number of bytes, not empty",
        "groups: [{name: a, namespaces: [a], tiers: {store: {quota: 1}}}] | line 1: groups[0].tiers.store: is unknown; known here are disk, host",
        "groups: [{name: a, namespaces: [a], tiers: {host: {high: 0.5, low: 0.6}}}] | line 1: groups[0].tiers.host.low: must be from 1.0E-6 to"
                + " the high"
                + " mark, which is 0.5, not 0.6",
    })
    void isReportedWithLinePathAndReason(String document, String finding) {
        assertEquals(List.of(finding), findings(document.replace("\\n", "\n")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', value = {
        "source: host, target: disk, threshold: 0, methods: [mark]     | .threshold: must be above 0 and below 1, not 0.0",
        "source: host, target: disk, threshold: 1, methods: [mark]     | .threshold: must be above 0 and below 1, not 1.0",
        "source: host, target: disk, threshold: .inf, methods: [mark]  | .threshold: must be above 0 and below 1, not Infinity",
        "source: host, target: disk, threshold: .NaN, methods: [mark]  | .threshold: must be above 0 and below 1, not NaN",
        "source: host, target: disk, threshold: 1e99999, methods: [mark] | .threshold: must be above 0 and below 1, not Infinity",
        "source: host, target: disk, methods: [mark]                   | .threshold: is missing",
        "source: host, target: disk, threshold: 0.5                    | .methods: is missing",
        "source: host, target: disk, threshold: 0.5, methods: []       | .methods: must have copy, mark, or both",
        "source: host, target: disk, threshold: 0.5, methods: mark     | .methods: must be a list, not the text 'mark'",
        "source: host, target: disk, threshold: 0.5, methods: [both]   | .methods[0]: must be copy or mark, not the text 'both'",
        "source: host, target: disk, threshold: 0.5, methods: [mark, mark] | .methods[1]: is given twice",
        "source: host, target: disk, threshold: 0.5, methods: [copy] | .retention: must be delete_source or keep_both: a route that"
                + " copies must state what becomes of the source",
        "source: host, target: disk, threshold: 0.5, methods: [mark], retention: drop | .retention: must be delete_source or keep_both, not the"
                + " text 'drop'",
        "source: gpu, target: disk, threshold: 0.5, methods: [mark]    | .source: must be device or host or disk or store, not the text 'gpu'",
        "source: device, target: disk, threshold: 0.5, methods: [mark] | .source: must be host or disk, not device",
        "target: disk, threshold: 0.5, methods: [mark]                 | .source: is missing",
        "source: host, target: l3, threshold: 0.5, methods: [mark]     | .target: must be device or host or disk or store, not the text 'l3'",
        "source: host, target: host, threshold: 0.5, methods: [mark]   | .target: must be another tier than the source",
        "source: disk, target: host, threshold: 0.5, methods: [mark]   | .target: must be colder than the source, and host is hotter than disk",
        "source: host, target: disk, threshold: 0.5, methods: [mark], concurrency: 0 | .concurrency: must be 1 or more, not 0",
        "source: host, target: disk, threshold: 0.5, methods: [mark], bytes_in_flight: 0 | .bytes_in_flight: must be from 1 to"
                + " 9007199254740992, not 0",
        "source: host, target: disk, threshold: 0.5, methods: [mark], batch: 3 | .batch: is unknown; known here are bytes_in_flight,"
                + " concurrency, methods,"
                + " retention, source, target, threshold",
    })
    void aWrongRouteToo(String route, String finding) {
        String document = "groups:\n- name: a\n  namespaces: [a]\n- name: b\n  namespaces: [b]\n  routes:\n  - {" + route + "}\n";
        assertEquals(List.of("line 7: groups[1].routes[0]" + finding), findings(document));
    }

    @Test
    void allIsFoundAtOnceInTheOrderOfLines() {
        assertEquals(List.of(
                "line 2: reclaim.host.high: must be a number, not true",
                "line 3: leese: is unknown; known here are back_up, copy_to_disk, expiry, fetch, groups, lease, marks, node_silent_ticks,"
                        + " operation_timeout, prefetch_threshold, reclaim, store, throttle, tiers, write_policy",
                "line 5: groups[0].name: is missing",
                "line 5: groups[0].quota: must be from 0 to 9007199254740992 bytes",
                "line 7: groups[0].routes: must not lead in a circle, and from host they lead back to it",
                "line 9: groups[0].routes[1].target: must be colder than the source, and host is hotter than disk",
                "line 10: groups[0].routes[2]: must appear once, and another route goes from host to disk"),
                findings("""
                        reclaim:
                          host: {high: true, low: 0.99}
                        leese: 1s
                        groups:
                        - quota: -1
                          namespaces: [a]
                          routes:
                          - {source: host, target: disk, threshold: 0.5, methods: [mark]}
                          - {source: disk, target: host, threshold: 0.5, methods: [mark]}
                          - {source: host, target: disk, threshold: 0.5, methods: [mark]}
                        """));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '\0', value = {
        "                              | the document: is empty: the shortest policy is {}, which has all defaults",
        "# only a comment              | the document: is empty: the shortest policy is {}, which has all defaults",
        "a: [1                         | line 1: the document: is not YAML: ",
        "a: 1\\n\\tb: 2                | line 2: the document: is not YAML: ",
        "a: 1\\n---\\nb: 2             | line 2: the document: is more than one document",
        "lease: &x 1s                  | line 1: the document: has an anchor or alias, which are not supported: repeat the value",
        "a: 1\\nlease: *x              | line 2: the document: has an anchor or alias, which are not supported: repeat the value",
        "lease: !!str 1s               | line 1: the document: has the tag tag:yaml.org,2002:str, and tags are not supported",
        "? [a]\\n: 1                   | line 1: the document: has a mapping or a list for a key",
    })
    void aTextThatIsNotADocumentIsReportedInOneLine(String document, String finding) {
        String text = document == null ? "" : document.replace("\\n", "\n").replace("\\t", "\t");
        Finding found = unreadable(text.getBytes(StandardCharsets.UTF_8));
        assertTrue(found.toString().startsWith(finding), found.toString());
        assertEquals(1, found.toString().lines().count());
    }

    private static Finding unreadable(byte[] file) {
        Reading reading = PolicyDocument.read(file);
        return assertInstanceOf(Reading.Unreadable.class, reading, reading.toString()).finding();
    }

    @Test
    void aDocumentOverALimitIsNotRead() {
        assertEquals("is longer than the limit of 1048576 bytes", unreadable(new byte[(1 << 20) + 1]).reason());
        assertEquals("is not text in UTF-8", unreadable(new byte[] {'a', ':', ' ', (byte) 0xff}).reason());
        assertEquals("is nested deeper than the limit of 16 levels", unreadable("[".repeat(100_000).getBytes(StandardCharsets.UTF_8)).reason());
        assertEquals("is nested deeper than the limit of 16 levels", unreadable("{a: ".repeat(17).getBytes(StandardCharsets.UTF_8)).reason());
        String many = "groups: [" + "1,".repeat(20_000) + "]";
        assertEquals("has more than the limit of 20000 values", unreadable(many.getBytes(StandardCharsets.UTF_8)).reason());
        assertEquals(1_000, findings("groups: [" + "1,".repeat(19_000) + "]").size());
    }

    @Test
    void theCoreBoundsTheSizeOfAPolicy() {
        StringBuilder text = new StringBuilder("groups:\n");
        for (int i = 0; i < 33; i++) {
            text.append("- {name: g").append(i).append(", namespaces: [a]}\n");
        }
        assertEquals(List.of("line 1: groups: must be at most 32 groups, not 33"), findings(text.toString()));
        assertEquals(List.of("line 1: groups: must have at most 256 patterns in all, not 257"),
                findings("groups: [{name: a, namespaces: [" + "a,".repeat(200) + "]}, {name: b, namespaces: [" + "b,".repeat(57) + "]}]"));
    }
}
