/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * What is wrong with one body: the first {@link #MOST} findings are kept and the rest is counted, for a body can have one in every second byte. For
 * one request.
 */
final class Findings {
    /** Most findings that are told. */
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

    /** Whether no more are kept: then the rest of a list is worth no work. */
    boolean isFull() {
        return first.size() == MOST;
    }

    /** All that there were, kept or not. */
    int count() {
        return count;
    }

    /** The elements of a list, as long as what is wrong with them would be told. */
    <T> Iterable<T> whileRoom(Iterable<T> elements) {
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

    /** The problem with all that are kept; only when there is one. */
    Problem problem() {
        Problem.Finding one = first.getFirst();
        String rest = count == 1 ? "" : (stopped ? ", and at least " : ", and ") + (count - 1) + " more";
        return new Problem(Problem.Kind.INVALID_REQUEST, one.field() + " " + one.detail() + rest,
                "mend what errors names; GET /v1/openapi.json has all fields", first);
    }
}
