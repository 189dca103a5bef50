/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One mapping of a document, with its fields by name and type. A missing field has the default of the call. A field of the wrong type is a
 * finding and has the default too. A field that was not read is a finding at the {@link #end}. For one thread.
 */
final class Section {
    private final Findings findings;
    private final String path;
    private final int line;
    private final boolean readable;
    private final Map<String, Node.Entry> entries = new LinkedHashMap<>();
    private final Set<String> asked = new TreeSet<>();

    /** A section of a node; a node that is not a mapping is a finding, and an empty section. */
    Section(Findings findings, String path, @Nullable Node node) {
        this.findings = findings;
        this.path = path;
        this.line = node == null ? 0 : node.line();
        this.readable = node == null || node instanceof Node.Mapping;
        if (node instanceof Node.Mapping(List<Node.Entry> all, _)) {
            for (Node.Entry entry : all) {
                Node.Entry first = entries.putIfAbsent(entry.key(), entry);
                if (first == null) {
                    findings.at(path(entry.key()), entry.line());
                } else {
                    findings.add(path(entry.key()), "is given twice, first in line " + first.line(), entry.line());
                }
            }
        } else if (node != null) {
            findings.add(path, "must be a mapping of fields, not " + node.what(), node.line());
        }
    }

    String path(String key) {
        String name = key.length() > 64 ? key.substring(0, 64) + "..." : key;
        return path.isEmpty() ? name : path + "." + name;
    }

    boolean has(String key) {
        return entries.containsKey(key);
    }

    @Nullable Node get(String key) {
        asked.add(key);
        Node.Entry entry = entries.get(key);
        return entry == null ? null : entry.value();
    }

    /** As {@link #get}; a missing field is a finding. */
    @Nullable Node required(String key) {
        Node node = get(key);
        if (node == null && readable) {
            findings.add(path(key), "is missing", line);
        }
        return node;
    }

    /** A section that may be missing, and is empty then. */
    Section section(String key) {
        return new Section(findings, path(key), get(key));
    }

    int count(String key, int otherwise) {
        Node node = get(key);
        if (node == null) {
            return otherwise;
        }
        Optional<Long> whole = node instanceof Node.Decimal number ? Units.whole(number.value()) : Optional.empty();
        if (whole.isPresent() && Math.abs(whole.get()) <= Integer.MAX_VALUE) {
            return Math.toIntExact(whole.get());
        }
        return wrong(key, node, "a whole number", otherwise);
    }

    /** The same where the policy keeps a long. */
    long count(String key, long otherwise) {
        return count(key, Math.clamp(otherwise, Integer.MIN_VALUE, Integer.MAX_VALUE));
    }

    double share(String key, double otherwise) {
        return share(key, get(key), otherwise);
    }

    double share(String key, @Nullable Node node, double otherwise) {
        return switch (node) {
            case null -> otherwise;
            case Node.Decimal number -> number.value().doubleValue();
            case Node.NotFinite(double value, _) -> value;
            default -> wrong(key, node, "a number", otherwise);
        };
    }

    boolean flag(String key, boolean otherwise) {
        Node node = get(key);
        return switch (node) {
            case null -> otherwise;
            case Node.Flag(boolean value, _) -> value;
            default -> wrong(key, node, "true or false", otherwise);
        };
    }

    long bytes(String key, long otherwise) {
        Node node = get(key);
        Optional<Long> found = switch (node) {
            case null -> Optional.of(otherwise);
            case Node.Decimal number -> Units.whole(number.value());
            case Node.Text(String value, _) -> Units.BYTES.parse(value);
            default -> Optional.empty();
        };
        return found.isPresent() || node == null ? found.orElse(otherwise) : wrong(key, node, Units.BYTES.syntax(), otherwise);
    }

    long timeMs(String key, long otherwise) {
        Node node = get(key);
        Optional<Long> found = node instanceof Node.Text(String value, _) ? Units.TIME.parse(value) : Optional.empty();
        return node == null ? otherwise : found.isPresent() ? found.get() : wrong(key, node, Units.TIME.syntax(), otherwise);
    }

    /** The constant of that name in lower case. */
    <E extends Enum<E>> E oneOf(String key, @Nullable Node node, List<E> known, E otherwise) {
        if (node == null) {
            return otherwise;
        }
        for (E constant : known) {
            if (node instanceof Node.Text(String value, _) && value.equals(name(constant))) {
                return constant;
            }
        }
        return wrong(key, node, String.join(" or ", known.stream().map(Section::name).toList()), otherwise);
    }

    String text(String key, @Nullable Node node, String otherwise) {
        return switch (node) {
            case null -> otherwise;
            case Node.Text(String value, _) -> value;
            default -> wrong(key, node, "a text", otherwise);
        };
    }

    List<String> texts(String key, @Nullable Node node) {
        List<String> texts = new ArrayList<>();
        List<Node> items = items(key, node);
        for (int i = 0; i < items.size(); i++) {
            String one = key + "[" + i + "]";
            findings.at(path(one), items.get(i).line());
            texts.add(text(one, items.get(i), ""));
        }
        return texts;
    }

    /** The items of a list; none when it is missing or not a list. */
    List<Node> items(String key, @Nullable Node node) {
        return switch (node) {
            case null -> List.of();
            case Node.Items(List<Node> values, _) -> values;
            default -> wrong(key, node, "a list", List.of());
        };
    }

    /** The items of a list, a section each. */
    List<Section> sections(String key) {
        List<Section> sections = new ArrayList<>();
        for (Node item : items(key, get(key))) {
            String one = path(key) + "[" + sections.size() + "]";
            findings.at(one, item.line());
            sections.add(new Section(findings, one, item));
        }
        return sections;
    }

    /** Nothing else may be there. */
    void end() {
        for (Map.Entry<String, Node.Entry> entry : entries.entrySet()) {
            if (!asked.contains(entry.getKey())) {
                findings.add(path(entry.getKey()), "is unknown; known here are " + String.join(", ", asked), entry.getValue().line());
            }
        }
    }

    /** Adds the finding that a value is not of its type, and returns the default. */
    <T> T wrong(String key, Node node, String must, T otherwise) {
        findings.add(path(key), "must be " + must + ", not " + node.what(), node.line());
        return otherwise;
    }

    /** The name of a constant in documents. */
    static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
