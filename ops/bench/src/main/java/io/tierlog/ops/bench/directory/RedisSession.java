/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.directory;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** One connection to Redis: the part of its protocol (RESP2) that is used here, one write and one read for each batch. One thread. */
final class RedisSession implements QueryPath.Session {
    private static final int BUFFER = 1 << 16;
    private static final byte[] END = {'\r', '\n'};
    private static final byte[] EXISTS = ascii("*2\r\n$6\r\nEXISTS\r\n$" + Keys.BYTES + "\r\n");
    private static final byte[] SET = ascii("*3\r\n$3\r\nSET\r\n$" + Keys.BYTES + "\r\n");
    private static final byte[] KEY = ascii("$" + Keys.BYTES + "\r\n");

    private final Socket socket;
    private final OutputStream out;
    private final InputStream in;
    private final Command command;

    /** The command of a batch. */
    enum Command {
        /** One command for each key. */
        EXISTS,
        /** One command for all keys; how many have a value. */
        MGET,
        /** One command for all keys; how many have a value before the first without one. */
        MGET_PREFIX
    }

    RedisSession(int port, Command command) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setTcpNoDelay(true);
        out = new BufferedOutputStream(socket.getOutputStream(), BUFFER);
        in = new BufferedInputStream(socket.getInputStream(), BUFFER);
        this.command = command;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public int query(Keys.Batch batch) throws IOException {
        return switch (command) {
            case EXISTS -> exists(batch);
            case MGET -> mget(batch, false);
            case MGET_PREFIX -> mget(batch, true);
        };
    }

    private int exists(Keys.Batch batch) throws IOException {
        for (int i = 0; i < batch.count(); i++) {
            out.write(EXISTS);
            out.write(batch.packed(), i * Keys.BYTES, Keys.BYTES);
            out.write(END);
        }
        out.flush();
        int found = 0;
        for (int i = 0; i < batch.count(); i++) {
            found += (int) number(':');
        }
        return found;
    }

    private int mget(Keys.Batch batch, boolean prefix) throws IOException {
        out.write(ascii("*" + (batch.count() + 1) + "\r\n$4\r\nMGET\r\n"));
        for (int i = 0; i < batch.count(); i++) {
            out.write(KEY);
            out.write(batch.packed(), i * Keys.BYTES, Keys.BYTES);
            out.write(END);
        }
        out.flush();
        long count = number('*');
        int found = 0;
        boolean unbroken = true;
        for (int i = 0; i < count; i++) {
            long size = number('$');
            if (size >= 0) {
                in.skipNBytes(size + END.length);
            }
            unbroken &= size >= 0;
            found += size >= 0 && (unbroken || !prefix) ? 1 : 0;
        }
        return found;
    }

    /** Gives keys a value, all in one write. */
    void set(byte[] keys, byte[] value) throws IOException {
        int count = keys.length / Keys.BYTES;
        for (int i = 0; i < count; i++) {
            out.write(SET);
            out.write(keys, i * Keys.BYTES, Keys.BYTES);
            out.write(ascii("\r\n$" + value.length + "\r\n"));
            out.write(value);
            out.write(END);
        }
        out.flush();
        for (int i = 0; i < count; i++) {
            if (!line().equals("+OK")) {
                throw new IOException("Redis refused a key");
            }
        }
    }

    /** A figure of INFO memory. */
    long memory(String figure) throws IOException {
        out.write(ascii("*2\r\n$4\r\nINFO\r\n$6\r\nmemory\r\n"));
        out.flush();
        String text = new String(in.readNBytes((int) number('$')), StandardCharsets.US_ASCII);
        in.skipNBytes(END.length);
        return text.lines()
                .filter(line -> line.startsWith(figure + ":"))
                .mapToLong(line -> Long.parseLong(line.substring(figure.length() + 1)))
                .findFirst()
                .orElse(0);
    }

    private long number(char kind) throws IOException {
        String line = line();
        if (line.isEmpty() || line.charAt(0) != kind) {
            throw new IOException("Redis answered " + line);
        }
        return Long.parseLong(line, 1, line.length(), 10);
    }

    private String line() throws IOException {
        StringBuilder line = new StringBuilder(16);
        for (int next = in.read(); next != '\r'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("Redis closed the connection");
            }
            line.append((char) next);
        }
        in.skipNBytes(1);
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
