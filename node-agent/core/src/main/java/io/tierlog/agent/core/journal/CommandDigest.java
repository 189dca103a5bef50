/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.journal;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.Sha256;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.WireType;
import io.tierlog.schemas.command.Command;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/**
 * The content of a command as a digest: everything but its envelope, which may differ when the same decision is sent twice.
 *
 * <p>The envelope is the first field of every record, so the content is what follows its bytes.
 */
public final class CommandDigest {
    private CommandDigest() {}

    /** SHA-256 over the type and the encoded fields after the envelope: 32 bytes. */
    public static Bytes of(Command command) {
        MessageDigest sha = Sha256.digest();
        sha.update(command.schema().getFullName().getBytes(StandardCharsets.UTF_8));
        byte[] whole = encode(command);
        int content = Envelope.TYPE.encode(command.envelope()).length;
        sha.update(whole, content, whole.length - content);
        return Bytes.wrapUnshared(sha.digest());
    }

    private static byte[] encode(Command command) {
        return encode(WireType.of(command), command);
    }

    private static <T extends WireRecord> byte[] encode(WireType<T> type, WireRecord command) {
        return type.encode(type.javaType().cast(command));
    }
}
