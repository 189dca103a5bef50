/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import io.tierlog.events.sign.KeyNames;
import io.tierlog.events.sign.RecordKeys;
import io.tierlog.ops.audit.heads.HeadKeys;
import io.tierlog.ops.audit.heads.SigningKey;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.CommandGroup;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog keys}: the keys with which records and heads are signed. A key is never printed; files are made for their owner alone. */
@Command(
        name = "keys",
        description = "Make the keys with which records (--record-keys) and the heads of a log (log sign) are signed.",
        subcommands = {KeysCommand.Add.class, KeysCommand.Create.class, KeysCommand.Derive.class, KeysCommand.HeadPair.class,
            KeysCommand.ListIds.class, KeysCommand.Promote.class})
final class KeysCommand extends CommandGroup {
    private static RecordKeys read(Path file) {
        try {
            return RecordKeys.read(file);
        } catch (IllegalArgumentException e) {
            throw new CliError(e.getMessage(), "look at --file", CliError.BAD_INPUT, e);
        }
    }

    private static RecordKeys master(Path file) {
        RecordKeys keys = read(file);
        if (!keys.isMaster()) {
            throw new CliError(file + " has derived keys", "give the file of master keys", CliError.BAD_INPUT);
        }
        return keys;
    }

    private static List<String> lines(Path file) {
        RecordKeys _ = master(file);
        try {
            return new ArrayList<>(Files.readAllLines(file, StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new CliError(file + " cannot be read: " + e, "look at --file", CliError.BAD_INPUT, e);
        }
    }

    private static String newKey(String id) {
        if (!RecordKeys.isId(id)) {
            throw new CliError("'" + id + "' is no id of a key", "1 to 32 letters, digits, dots, dashes or underscores", CliError.BAD_INPUT);
        }
        byte[] key = new byte[RecordKeys.KEY_BYTES];
        new SecureRandom().nextBytes(key);
        return id + " " + HexFormat.of().formatHex(key);
    }

    /** Checks the lines before they are in the place of what was there: a file that cannot be used is never written. */
    private static void write(Path file, List<String> lines, boolean replace) {
        write(file, lines, replace, "rw-------", KeysCommand::read);
    }

    private static void write(Path file, List<String> lines, boolean replace, String mode, Consumer<Path> usable) {
        Path directory = file.toAbsolutePath().getParent();
        try {
            if (!replace && Files.exists(file)) {
                throw new FileAlreadyExistsException(file.toString());
            }
            Path made = Files.createTempFile(directory, "keys", ".new",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode)));
            try {
                Files.write(made, lines, StandardCharsets.UTF_8);
                usable.accept(made);
                Files.move(made, file, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(made);
            }
        } catch (FileAlreadyExistsException e) {
            throw new CliError(file + " exists", "choose another file; keys add puts a key into a file of master keys", CliError.BAD_INPUT, e);
        } catch (IOException e) {
            throw new CliError(file + " cannot be written: " + e, "look at the directory", CliError.FAILURE, e);
        }
    }

    /** Which file of master keys, and which id in it. */
    static final class Choice {
        @Option(names = "--file", required = true, paramLabel = "PATH", description = "The file of master keys.")
        Path file;

        @Option(names = "--id", required = true, paramLabel = "ID",
                description = "Name of the key, 1 to 32 letters, digits, dots, dashes or underscores, for example the year and month.")
        String id;
    }

    /** {@code keys create}. */
    @Command(name = "create", description = "Make a file with one master key.")
    static final class Create implements Callable<Integer> {
        @Mixin
        Choice choice;

        @Override
        public Integer call() {
            write(choice.file, List.of(newKey(choice.id)), false);
            return 0;
        }
    }

    /** {@code keys add}. */
    @Command(name = "add", description = "Put a new master key into a file; it verifies and does not sign yet.")
    static final class Add implements Callable<Integer> {
        @Mixin
        Choice choice;

        @Override
        public Integer call() {
            List<String> lines = lines(choice.file);
            lines.add(newKey(choice.id));
            write(choice.file, lines, true);
            return 0;
        }
    }

    /** {@code keys promote}. */
    @Command(name = "promote", description = "Let a master key of the file sign from now on; the others verify.")
    static final class Promote implements Callable<Integer> {
        @Mixin
        Choice choice;

        @Override
        public Integer call() {
            List<String> lines = lines(choice.file);
            String signs = lines.stream()
                    .filter(line -> line.strip().split("\\s+", 2)[0].equals(choice.id))
                    .findFirst()
                    .orElseThrow(() -> new CliError("there is no key " + choice.id + " in " + choice.file,
                            "it has: " + String.join(", ", read(choice.file).ids()), CliError.BAD_INPUT));
            lines.remove(signs);
            lines.addFirst(signs);
            write(choice.file, lines, true);
            return 0;
        }
    }

    /** {@code keys derive}. */
    @Command(name = "derive", description = "Make the file of a part that shall not have the master keys.")
    static final class Derive implements Callable<Integer> {
        @Option(names = "--file", required = true, paramLabel = "PATH", description = "The file of master keys.")
        Path file;

        @Option(names = "--out", required = true, paramLabel = "PATH", description = "The file to make, or to make again after keys add and promote.")
        Path out;

        @Option(names = "--node", paramLabel = "NAME", description = "For the agent of this node, or a bridge; several times for several nodes.")
        List<String> nodes = new ArrayList<>();

        @Option(names = "--operator", description = "For policy commands.")
        boolean operator;

        @Option(names = "--directory", description = "For a directory.")
        boolean directory;

        @Override
        public Integer call() {
            List<String> names = new ArrayList<>();
            nodes.forEach(node -> names.addAll(KeyNames.ofNode(node)));
            if (operator) {
                names.add(KeyNames.OPERATOR);
            }
            if (directory) {
                names.addAll(List.of(KeyNames.DIRECTORY, KeyNames.PLACEMENT));
            }
            if (names.isEmpty()) {
                throw new CliError("for which part are the keys?", "give --node NAME, --operator or --directory", CliError.BAD_INPUT);
            }
            if (nodes.stream().anyMatch(node -> !node.matches("[A-Za-z0-9._-]{1,64}"))) {
                throw new CliError("a --node is not a name of a node", "1 to 64 letters, digits, dots, dashes or underscores", CliError.BAD_INPUT);
            }
            RecordKeys keys = master(file);
            if (Files.exists(out) && read(out).isMaster()) {
                throw new CliError(out + " has master keys", "choose another file for --out", CliError.BAD_INPUT);
            }
            write(out, keys.derivedLines(names.stream().distinct().toList()), true);
            return 0;
        }
    }

    /** {@code keys head}. */
    @Command(
            name = "head",
            description = "Make the pair of keys with which the heads of a log are signed and checked.",
            footer = {
                "",
                "The private key (Ed25519, PKCS#8) is for log sign alone. The file of public keys is for log sign and audit verify; to replace a",
                "key, make another pair with the same file: all keys in it verify, and they sign in the order in which they are there."
            })
    static final class HeadPair implements Callable<Integer> {
        @Spec
        CommandSpec spec;

        @Option(names = "--file", required = true, paramLabel = "PATH", description = "The file to make for the private key.")
        Path file;

        @Option(names = "--public", required = true, paramLabel = "PATH",
                description = "The file of public keys; made, or where there is one, the new key is put at its end.")
        Path publicKeys;

        @Override
        public Integer call() throws IOException {
            List<String> known = new ArrayList<>();
            if (Files.exists(publicKeys)) {
                HeadKeys _ = ClusterOptions.checked(() -> HeadKeys.read(publicKeys));
                known.addAll(Files.readAllLines(publicKeys, StandardCharsets.US_ASCII));
            }
            SigningKey.Pair pair = SigningKey.create();
            known.addAll(pair.publicKey().lines().toList());
            write(file, pair.privateKey().lines().toList(), false, "rw-------", _ -> {});
            try {
                write(publicKeys, known, true, "rw-r--r--", made -> SigningKey.read(file, HeadKeys.read(made)));
            } catch (CliError e) {
                Files.deleteIfExists(file); // A private key whose public one is nowhere is of no use.
                throw e;
            }
            spec.commandLine().getOut().println("made key " + pair.id());
            spec.commandLine().getOut().flush();
            return 0;
        }
    }

    /** {@code keys list}. */
    @Command(name = "list", description = "Print the ids of a file, the one that signs first; no key is printed.")
    static final class ListIds implements Callable<Integer> {
        @Option(names = "--file", required = true, paramLabel = "PATH", description = "A file of master or derived keys.")
        Path file;

        @Spec
        CommandSpec spec;

        @Override
        public Integer call() {
            RecordKeys keys = read(file);
            keys.ids().forEach(id -> spec.commandLine().getOut().println(id + (id.equals(keys.signingId()) ? " signs" : " verifies")));
            spec.commandLine().getOut().flush();
            return 0;
        }
    }
}
