/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.sign;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import javax.crypto.KDF;
import javax.crypto.SecretKey;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * The keys of one process for the codes of records, from a file. Immutable, safe for use by several threads.
 *
 * <p>A file of master keys has lines "ID HEX"; a file for a node, an operator or a directory has lines "ID NAME HEX", where each key is derived from
 * the master key ID by HKDF-SHA256 with NAME (RFC 5869). The first id signs, all ids verify: so a new key is known everywhere before it signs.
 */
public final class RecordKeys {
    /** Length of every key, bytes. */
    public static final int KEY_BYTES = 32;

    private static final String ALGORITHM = "HmacSHA256";
    private static final int MAX_IDS = 16;
    private static final int MAX_BYTES = 1 << 20;
    /** Node names come from records that are not checked yet: what is derived for them must not grow without end. */
    private static final int MAX_CACHED = 10_000;
    private static final Pattern ID = Pattern.compile("[A-Za-z0-9._-]{1,32}");

    private final Map<String, Keys> byId;
    private final String signing;

    /** The keys of one id; master is null where there are only derived ones. */
    private record Keys(@Nullable SecretKey master, Map<String, SecretKey> derived) {}

    private RecordKeys(Map<String, Keys> byId, String signing) {
        this.byId = byId;
        this.signing = signing;
    }

    /**
     * Reads a file.
     *
     * @throws IllegalArgumentException when it cannot be read or used; the message says what to do
     */
    public static RecordKeys read(Path file) {
        try {
            PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
            if (view != null && view.readAttributes().permissions().contains(PosixFilePermission.OTHERS_READ)) {
                throw wrong(file, "every user of this machine can read it; run: chmod o-rwx " + file);
            }
            if (Files.size(file) > MAX_BYTES) {
                throw wrong(file, "it has more than " + MAX_BYTES + " bytes");
            }
            return of(Files.readAllLines(file, StandardCharsets.UTF_8), file);
        } catch (IOException e) {
            throw new IllegalArgumentException("the record keys in " + file + " cannot be read: " + e + "; make a file with: tierlog keys create", e);
        }
    }

    private static RecordKeys of(List<String> lines, Path file) {
        Map<String, Keys> byId = new LinkedHashMap<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (!line.isEmpty() && !line.startsWith("#")) {
                take(line.split("\\s+"), byId, file, i + 1);
            }
        }
        if (byId.isEmpty()) {
            throw wrong(file, "it has no key");
        }
        if (byId.values().stream().map(keys -> keys.master() == null).distinct().count() > 1) {
            throw wrong(file, "it has master keys and derived ones; make the file again with: tierlog keys derive");
        }
        if (byId.size() > MAX_IDS) {
            throw wrong(file, "it has " + byId.size() + " ids, at most " + MAX_IDS + " are taken; remove the oldest");
        }
        return new RecordKeys(byId, byId.keySet().iterator().next());
    }

    private static void take(String[] fields, Map<String, Keys> byId, Path file, int line) {
        String id = fields[0];
        if (fields.length < 2 || fields.length > 3 || !ID.matcher(id).matches()) {
            throw wrong(file, "line " + line + " is not 'ID HEX' or 'ID NAME HEX', with an id of 1 to 32 letters, digits, dots, dashes or"
                    + " underscores");
        }
        SecretKey key = key(fields[fields.length - 1], file, line);
        if (fields.length == 2) {
            if (byId.putIfAbsent(id, new Keys(key, new ConcurrentHashMap<>())) != null) {
                throw wrong(file, "line " + line + " repeats the id " + id + "; give each key its own id");
            }
        } else {
            Keys keys = byId.computeIfAbsent(id, _ -> new Keys(null, new ConcurrentHashMap<>()));
            if (keys.master() != null || keys.derived().putIfAbsent(fields[1], key) != null) {
                throw wrong(file, "line " + line + " repeats the id " + id + "; give each key its own id");
            }
        }
    }

    private static SecretKey key(String hex, Path file, int line) {
        byte[] bytes;
        try {
            bytes = HexFormat.of().parseHex(hex);
        } catch (IllegalArgumentException e) {
            throw wrong(file, "the key in line " + line + " is not hexadecimal");
        }
        if (bytes.length != KEY_BYTES) {
            throw wrong(file, "the key in line " + line + " has " + bytes.length + " bytes, not " + KEY_BYTES);
        }
        return new SecretKeySpec(bytes, ALGORITHM);
    }

    private static IllegalArgumentException wrong(Path file, String why) {
        return new IllegalArgumentException("the record keys in " + file + " cannot be used: " + why);
    }

    /** Whether this can name a key. */
    public static boolean isId(String text) {
        return ID.matcher(text).matches();
    }

    /** Id of the key that signs. */
    public String signingId() {
        return signing;
    }

    /** All ids, the signing one first. */
    public List<String> ids() {
        return List.copyOf(byId.keySet());
    }

    /** Whether every key can be derived. */
    public boolean isMaster() {
        return byId.values().stream().allMatch(keys -> keys.master() != null);
    }

    /**
     * Requires that this file can sign under a name.
     *
     * @throws IllegalArgumentException when it cannot; the message says what to do
     */
    public void require(String name) {
        if (find(signing, name) == null) {
            throw new IllegalArgumentException("--record-keys has no key '" + name + "' under the id " + signing
                    + "; derive the file for this process with: tierlog keys derive");
        }
    }

    /** The key of an id and a name; null when there is none here. */
    @Nullable SecretKey find(String id, String name) {
        Keys keys = byId.get(id);
        if (keys == null) {
            return null;
        }
        SecretKey found = keys.derived().get(name);
        if (found == null && keys.master() != null) {
            found = derive(keys.master(), name);
            if (keys.derived().size() >= MAX_CACHED) {
                keys.derived().clear();
            }
            keys.derived().put(name, found);
        }
        return found;
    }

    /**
     * The lines of a file with the keys of these names only, for all ids.
     *
     * @throws IllegalArgumentException when this has no master keys
     */
    public List<String> derivedLines(List<String> names) {
        if (!isMaster()) {
            throw new IllegalArgumentException("keys are derived from a file of master keys, and this one has derived keys");
        }
        return byId.entrySet().stream()
                .flatMap(one -> names.stream().map(name -> one.getKey() + " " + name + " "
                        + HexFormat.of().formatHex(bytes(find(one.getKey(), name)))))
                .toList();
    }

    private static byte[] bytes(@Nullable SecretKey key) {
        if (key == null) {
            throw new IllegalStateException("a master key derives every name");
        }
        return key.getEncoded();
    }

    private static SecretKey derive(SecretKey master, String name) {
        try {
            byte[] info = ("tierlog record " + name).getBytes(StandardCharsets.UTF_8);
            return KDF.getInstance("HKDF-SHA256")
                    .deriveKey(ALGORITHM, HKDFParameterSpec.ofExtract().addIKM(master).thenExpand(info, KEY_BYTES));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java has no HKDF-SHA256", e);
        }
    }
}
