/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.page;

import io.tierlog.schemas.Bytes;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which page serves or is being filled for a block, and how many pages extend a block, per namespace.
 *
 * <p>Looked up only, never walked, so the order of the maps is without effect. For one thread.
 */
final class PageIndex {
    private static final class Space {
        final Map<Bytes, Page> serving = new LinkedHashMap<>();
        final Map<Bytes, Page> coming = new LinkedHashMap<>();
        final Map<Bytes, Integer> children = new LinkedHashMap<>();

        boolean isEmpty() {
            return serving.isEmpty() && coming.isEmpty() && children.isEmpty();
        }
    }

    private final Map<String, Space> spaces = new LinkedHashMap<>();

    @Nullable Page serving(String namespace, Bytes key) {
        Space space = spaces.get(namespace);
        return space == null ? null : space.serving.get(key);
    }

    @Nullable Page coming(String namespace, Bytes key) {
        Space space = spaces.get(namespace);
        return space == null ? null : space.coming.get(key);
    }

    /** Pages that hold, or will hold, a block whose parent is {@code key}. */
    int children(String namespace, Bytes key) {
        Space space = spaces.get(namespace);
        return space == null ? 0 : space.children.getOrDefault(key, 0);
    }

    void addComing(Page page) {
        Space space = spaces.computeIfAbsent(page.namespace, any -> new Space());
        Page before = space.coming.put(page.block.key(), page);
        if (before != null) {
            throw new IllegalStateException(page + " is filled twice: " + before);
        }
        addChild(space, page);
    }

    /** The block of {@code page} serves from here on. */
    void serve(Page page) {
        Space space = space(page);
        space.coming.remove(page.block.key());
        putServing(space, page);
    }

    /** {@code page} is filled for nothing. */
    void removeComing(Page page) {
        Space space = space(page);
        space.coming.remove(page.block.key());
        removeChild(space, page);
        forgetEmpty(page, space);
    }

    /** Puts back what {@link #removeServing} took. */
    void addServing(Page page) {
        Space space = spaces.computeIfAbsent(page.namespace, any -> new Space());
        putServing(space, page);
        addChild(space, page);
    }

    void removeServing(Page page) {
        Space space = space(page);
        space.serving.remove(page.block.key());
        removeChild(space, page);
        forgetEmpty(page, space);
    }

    private static void putServing(Space space, Page page) {
        Page before = space.serving.put(page.block.key(), page);
        if (before != null) {
            throw new IllegalStateException(page + " would serve twice: " + before);
        }
    }

    private static void addChild(Space space, Page page) {
        if (!page.block.parent().isEmpty()) {
            space.children.merge(page.block.parent(), 1, Integer::sum);
        }
    }

    private static void removeChild(Space space, Page page) {
        if (!page.block.parent().isEmpty()) {
            space.children.computeIfPresent(page.block.parent(), (parent, n) -> n == 1 ? null : n - 1);
        }
    }

    private Space space(Page page) {
        Space space = spaces.get(page.namespace);
        if (space == null) {
            throw new IllegalStateException("No namespace for " + page);
        }
        return space;
    }

    private void forgetEmpty(Page page, Space space) {
        if (space.isEmpty()) {
            spaces.remove(page.namespace);
        }
    }
}
