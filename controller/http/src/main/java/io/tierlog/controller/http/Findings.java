/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * The errors of one body: it keeps the first {@link #MOST} and counts the rest, since a body can have one in every second byte. For
 * one request.
 */
final class Findings {
    /** Most findings that a problem lists. */
    static final int MOST = 100;

    private final List<Problem.Finding> first = new ArrayList<>();
    private int count;
    private boolean stopped;

    void add(String path, String name, String detail) {
        if (!isFull()) {
            first.add(new Problem.Finding(path + name, detail));
        }
        count++;
    }

    /** Whether it keeps no more: then the rest of a list need not be read. */
    boolean isFull() {
        return first.size() == MOST;
    }

    /** Number of findings, kept or not. */
    int count() {
        return count;
    }

    /** The elements of a list, until no more findings are kept. */
    <T> Iterable<T> untilFull(Iterable<T> elements) {
        return () -> new Iterator<>() {
            private final Iterator<T> all = elements.iterator();

            @Override
            public boolean hasNext() {
                stopped |= isFull() && all.hasNext();
                return !isFull() && all.hasNext();
            }

            @Override
            public T next() {
                return all.next();
            }
        };
    }

    /** The problem with all kept findings; there must be one. */
    Problem problem() {
        Problem.Finding one = first.getFirst();
        String rest = count == 1 ? "" : (stopped ? ", and at least " : ", and ") + (count - 1) + " more";
        return new Problem(Problem.Kind.INVALID_REQUEST, one.field() + " " + one.detail() + rest,
                "correct the fields in errors; GET /v1/openapi.json has all fields", first);
    }
}
