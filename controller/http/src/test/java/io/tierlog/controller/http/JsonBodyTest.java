/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A problem lists all errors of a body up to a bound, and counts the rest. */
class JsonBodyTest {
    private static final int BODY = 2 << 20;
    private static final ObjectMapper JSON = JsonBody.mapper(new ServerLimits(BODY, 8, 1));

    private static JsonBody fields(String body) {
        return JsonBody.of(JSON, body.getBytes(StandardCharsets.UTF_8));
    }

    /** The problem of a body that {@code how} reads. */
    private static Problem refused(String body, Consumer<JsonBody> how) {
        JsonBody fields = fields(body);
        how.accept(fields);
        return assertThrows(Problem.class, fields::done);
    }

    /** A list that fills a body with this element. */
    private static String full(String element) {
        int space = BODY - "{\"list\":[]}".length();
        return "{\"list\":[" + element + ("," + element).repeat((space - element.length()) / (element.length() + 1)) + "]}";
    }

    private static List<String> first(int count, String before, String after) {
        return IntStream.range(0, count).mapToObj(i -> before + i + after).toList();
    }

    private static List<String> named(Problem refused) {
        return refused.findings().stream().map(Problem.Finding::field).toList();
    }

    /** Found by DecodersTest: it begins as UTF-32 does, and was a fault of the server. */
    @Test
    void aBodyThatBeginsAsUtf32IsRefused() {
        byte[] body = "{\0\0\0\0\0\0\0\0001\", \"nodes\": 1}".getBytes(StandardCharsets.US_ASCII);
        assertEquals(Problem.Kind.INVALID_REQUEST, assertThrows(Problem.class, () -> JsonBody.of(JSON, body)).kind());
    }

    @Test
    void aBodyFullOfWrongElementsListsTheFirstHundred() {
        List<Consumer<JsonBody>> readers = List.of(
                body -> body.integers("list", 1_000_000),
                body -> body.keys("list", 1_000_000, 8, 32),
                body -> body.names("list", 1_000_000, "[a-z]+", "small letters"),
                body -> body.objects("list", 1_000_000));
        for (Consumer<JsonBody> reader : readers) {
            Problem refused = refused(full("-1.5"), reader);
            assertEquals(first(100, "list[", "]"), named(refused));
            assertTrue(refused.detail().endsWith(", and at least 99 more"), refused.detail());
            assertTrue(refused.toJson().toString().length() < 20_000, () -> refused.toJson().toString().length() + " characters of answer");
        }
    }

    @Test
    void unknownFieldsAreListedUpToTheBoundAndCounted() {
        String body = IntStream.range(0, 100_000).mapToObj(i -> "\"f" + i + "\":0").collect(Collectors.joining(",", "{", "}"));
        Problem refused = refused(body, fields -> fields.text("known", 9));
        assertEquals(first(100, "f", ""), named(refused));
        assertEquals("f0 is not a field; these are: known, and 99999 more", refused.detail());
    }

    @Test
    void aHundredFindingsAreAllListed() {
        String hundred = "{\"list\":[" + "-1,".repeat(99) + "-1]}";
        Problem refused = refused(hundred, body -> body.integers("list", 1_000));
        assertEquals(100, refused.findings().size());
        assertTrue(refused.detail().endsWith(", and 99 more"), refused.detail());
        assertEquals("list[0] must be a whole number from 0", refused("{\"list\":[-1]}", body -> body.integers("list", 9)).detail());
    }

    /** Errors behind a list that was read in part are counted, and its valid elements are not returned. */
    @Test
    void errorsBehindTheBoundAreCounted() {
        Problem refused = refused("{\"list\":[" + "-1,".repeat(150) + "1],\"more\":[1,2],\"other\":0}", body -> {
            body.integers("list", 1_000);
            assertTrue(body.integers("more", 9).map(numbers -> numbers.length == 0).orElse(true), "no list is read after the bound");
        });
        assertTrue(refused.detail().endsWith(", and at least 100 more"), refused.detail());
    }

    @Test
    void aListIsReadWhole() {
        JsonBody body = fields("{\"list\":[0,1,9223372036854775807]}");
        Optional<long[]> numbers = body.integers("list", 3);
        body.done();
        assertArrayEquals(new long[] {0, 1, Long.MAX_VALUE}, numbers.orElseThrow());
    }

    /** A client takes 8 KiB of trailers. */
    @Test
    void overGrpcTheDescriptionIsBounded() {
        Problem refused = refused(full("-1"), body -> body.integers("list", 1_000_000));
        String description = String.valueOf(GrpcCalls.refused(refused).getStatus().getDescription());
        assertTrue(description.endsWith("list[19] must be a whole number from 0; and more"), description);
        Problem two = refused("{\"list\":[-1,-2]}", body -> body.integers("list", 9));
        assertEquals("list[0] must be a whole number from 0; list[1] must be a whole number from 0",
                GrpcCalls.refused(two).getStatus().getDescription());
    }
}
