/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.export;

import io.tierlog.ops.audit.AuditException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.utils.Utils;

/**
 * One table in an Avro container file, compressed with deflate, which every reader of Avro knows. It has its name once it is whole; before, a file
 * {@code NAME.part}, which stays when the export fails. Not thread-safe.
 */
final class TableFile implements AutoCloseable {
    private static final int COMPRESSION = 6;

    private final Path directory;
    private final Path file;
    private final Path part;
    private final DataFileWriter<GenericRecord> writer;
    private long rows;

    /**
     * Begins a file in a directory that exists.
     *
     * @throws AuditException when it is there already, or cannot be written
     */
    TableFile(Path directory, String name, Schema schema) {
        this.directory = directory;
        file = directory.resolve(name + ".avro");
        part = directory.resolve(name + ".avro.part");
        if (Files.exists(file)) {
            throw new AuditException("there is a file " + file + " already", "choose another directory, or move it away");
        }
        DataFileWriter<GenericRecord> opened = new DataFileWriter<>(new GenericDatumWriter<>(schema));
        try {
            writer = opened.setCodec(CodecFactory.deflateCodec(COMPRESSION)).create(schema, part.toFile());
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private AuditException failed(IOException e) {
        return new AuditException("cannot write " + file + ": " + e.getMessage(), "look at the disk and the directory's rights", e);
    }

    void add(GenericRecord row) {
        try {
            writer.append(row);
            rows++;
        } catch (IOException e) {
            throw failed(e);
        }
    }

    /** All rows are there: the file gets its name. */
    Exporter.Table finish(String name) {
        try {
            writer.close();
            Utils.flushFileIfExists(part);
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
            Utils.flushDir(directory);
            return new Exporter.Table(name, file, rows, Files.size(file));
        } catch (IOException e) {
            throw failed(e);
        }
    }

    /** Closes what {@link #finish} has not. */
    @Override
    public void close() {
        try {
            writer.close();
        } catch (IOException e) {
            throw failed(e);
        }
    }
}
