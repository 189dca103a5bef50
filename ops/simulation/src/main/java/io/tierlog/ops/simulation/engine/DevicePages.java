/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.engine;

/**
 * The device memory of an engine: real bytes, and a shadow book of the copies of each page. It finds at once a copy that touches a page whose owner
 * has changed since it was queued, and an engine that writes to a page that a copy still touches. For one thread.
 */
public final class DevicePages {
    private final byte[][] bytes;
    private final long[] generations;
    private final int[] readers;
    private final int[] writers;
    /** Set when the engine that owned this memory has gone: its content does not matter. */
    private boolean abandoned;

    /** So many pages of zeroes. */
    public DevicePages(int pages, int blockBytes) {
        bytes = new byte[pages][blockBytes];
        generations = new long[pages];
        readers = new int[pages];
        writers = new int[pages];
    }

    /** Number of pages. */
    public int size() {
        return bytes.length;
    }

    /** The bytes of a page, to be copied from or to. */
    public byte[] bytes(int page) {
        return bytes[page];
    }

    /** How often the engine has given the page new content. */
    public long generation(int page) {
        return generations[page];
    }

    /** The engine has gone. */
    public void abandon() {
        abandoned = true;
    }

    /** The engine gives the page to new content. */
    public long renew(int page) {
        requireIdle(page, "is given to new content");
        return ++generations[page];
    }

    /** The engine is about to write to the page. */
    public byte[] toWrite(int page) {
        requireIdle(page, "is written by the engine");
        return bytes[page];
    }

    private void requireIdle(int page, String what) {
        if (!abandoned && (readers[page] > 0 || writers[page] > 0)) {
            throw new IllegalStateException("I2/I3: device page " + page + " " + what + " while a copy " + (writers[page] > 0 ? "to" : "from")
                    + " it is under way");
        }
    }

    /** A copy that reads the page is queued. */
    public void beginRead(int page) {
        if (writers[page] > 0) {
            throw new IllegalStateException("I3: device page " + page + " is read while a copy to it is under way");
        }
        readers[page]++;
    }

    /** A copy that writes the page is queued. */
    public void beginWrite(int page) {
        if (!abandoned && (writers[page] > 0 || readers[page] > 0)) {
            throw new IllegalStateException("I2: device page " + page + " is written by two copies, or read and written at once");
        }
        writers[page]++;
    }

    /** The copy has come to rest. */
    public void endRead(int page) {
        readers[page]--;
    }

    /** The copy has come to rest. */
    public void endWrite(int page) {
        writers[page]--;
    }
}
