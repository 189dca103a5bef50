/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.decode;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;

/** Writes a decoded payload again with the widest headers, the keys of maps in reverse order, and an unknown key in each map. */
final class WideEncoder {
    private final DataOutputStream out;

    private WideEncoder(DataOutputStream out) {
        this.out = out;
    }

    static byte[] encode(JsonNode decoded) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new WideEncoder(new DataOutputStream(bytes)).value(decoded);
        return bytes.toByteArray();
    }

    private void value(JsonNode node) throws IOException {
        if (node.isNull()) {
            out.writeByte(0xc0);
        } else if (node.isIntegralNumber()) {
            boolean negative = node.bigIntegerValue().signum() < 0;
            out.writeByte(negative ? 0xd3 : 0xcf);
            out.writeLong(node.bigIntegerValue().longValue());
        } else if (node.isNumber()) {
            out.writeByte(0xcb);
            out.writeDouble(node.doubleValue());
        } else if (node.isTextual()) {
            text(node.textValue());
        } else if (node.isArray()) {
            out.writeByte(0xdd);
            out.writeInt(node.size());
            for (JsonNode each : node) {
                value(each);
            }
        } else if (node.has("$bin")) {
            byte[] bytes = HexFormat.of().parseHex(node.get("$bin").textValue());
            out.writeByte(0xc6);
            out.writeInt(bytes.length);
            out.write(bytes);
        } else {
            List<String> names = new ArrayList<>();
            node.fieldNames().forEachRemaining(names::add);
            Collections.reverse(names);
            out.writeByte(0xdf);
            out.writeInt(names.size() + 1);
            text("a_field_of_tomorrow");
            out.writeByte(0x93);
            out.write(new byte[] {1, 2, 3});
            for (String name : names) {
                text(name);
                value(node.get(name));
            }
        }
    }

    private void text(String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeByte(0xdb);
        out.writeInt(bytes.length);
        out.write(bytes);
    }
}
