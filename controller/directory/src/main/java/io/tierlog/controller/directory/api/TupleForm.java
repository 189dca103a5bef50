/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** How a text, and a tuple (bytes, tuple of whole numbers from 0, None), are written as bytes before they are hashed. Without state. */
enum TupleForm {
    /** Canonical CBOR (RFC 8949, 4.2). */
    CBOR {
        @Override
        byte[] text(String text) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            ByteArrayOutputStream cbor = new ByteArrayOutputStream();
            head(cbor, 0x60, utf8.length);
            cbor.writeBytes(utf8);
            return cbor.toByteArray();
        }

        @Override
        byte[] tuple(byte[] parent, long[] tokens, int from, int to) {
            ByteArrayOutputStream cbor = new ByteArrayOutputStream(parent.length + 16 + (to - from) * 5);
            head(cbor, 0x80, 3);
            head(cbor, 0x40, parent.length);
            cbor.writeBytes(parent);
            head(cbor, 0x80, to - from);
            for (int i = from; i < to; i++) {
                head(cbor, 0, tokens[i]);
            }
            cbor.write(0xf6);
            return cbor.toByteArray();
        }

        /** A head of CBOR with a number of 0 or more, as short as it can be; numbers up to 23 stand in the head itself. */
        private static void head(ByteArrayOutputStream cbor, int kind, long number) {
            if (number <= 23) {
                cbor.write(kind | (int) number);
                return;
            }
            int bytes = number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1L << 32 ? 4 : 8;
            // 24 to 27 stand for a number of 1, 2, 4 or 8 bytes.
            cbor.write(kind | (24 + Integer.numberOfTrailingZeros(bytes)));
            for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
                cbor.write((int) (number >>> shift));
            }
        }
    },

    /**
     * Python's pickle, protocol 5, as its C implementation writes it (PEP 574; opcodes in Lib/pickletools.py). Of what one frame holds, 64 KiB, which
     * is more than 20,000 tokens.
     */
    PICKLE {
        @Override
        byte[] text(String text) {
            byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
            ByteArrayOutputStream content = new ByteArrayOutputStream();
            if (utf8.length < 256) {
                content.write(0x8c);
                content.write(utf8.length);
            } else {
                content.write('X');
                content.writeBytes(little(utf8.length, Integer.BYTES));
            }
            content.writeBytes(utf8);
            content.write(MEMOIZE);
            return framed(content);
        }

        @Override
        byte[] tuple(byte[] parent, long[] tokens, int from, int to) {
            ByteArrayOutputStream content = new ByteArrayOutputStream(parent.length + 16 + (to - from) * 5);
            content.write('C');
            content.write(parent.length);
            content.writeBytes(parent);
            content.write(MEMOIZE);
            boolean many = to - from > 3;
            if (many) {
                content.write('(');
            }
            for (int i = from; i < to; i++) {
                number(content, tokens[i]);
            }
            content.write(many ? 't' : TUPLE1 + to - from - 1);
            content.write(MEMOIZE);
            content.write('N');
            content.write(TUPLE1 + 2);
            content.write(MEMOIZE);
            return framed(content);
        }

        private static void number(ByteArrayOutputStream content, long number) {
            if (number < 1 << 8) {
                content.write('K');
                content.write((int) number);
            } else if (number < 1 << 16) {
                content.write('M');
                content.writeBytes(little(number, Short.BYTES));
            } else if (number <= Integer.MAX_VALUE) {
                content.write('J');
                content.writeBytes(little(number, Integer.BYTES));
            } else {
                // Two's complement, as short as it can be: a number whose highest bit is set needs a byte more.
                int bytes = (Long.SIZE - Long.numberOfLeadingZeros(number)) / Byte.SIZE + 1;
                content.write(0x8a);
                content.write(bytes);
                content.writeBytes(little(number, bytes));
            }
        }

        private static byte[] framed(ByteArrayOutputStream content) {
            content.write('.');
            ByteArrayOutputStream pickle = new ByteArrayOutputStream(content.size() + 11);
            pickle.write(0x80);
            pickle.write(5);
            pickle.write(0x95);
            pickle.writeBytes(little(content.size(), Long.BYTES));
            pickle.writeBytes(content.toByteArray());
            return pickle.toByteArray();
        }

        private static byte[] little(long number, int bytes) {
            byte[] all = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(number).array();
            return Arrays.copyOf(all, bytes);
        }
    };

    private static final int MEMOIZE = 0x94;
    private static final int TUPLE1 = 0x85;

    /** A text. */
    abstract byte[] text(String text);

    /** The tuple of a block whose tokens are those at {@code from} to {@code to} - 1. */
    abstract byte[] tuple(byte[] parent, long[] tokens, int from, int to);
}
