/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.DocumentStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingEndEvent;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceEndEvent;
import org.snakeyaml.engine.v2.events.StreamEndEvent;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Text to nodes: one document of YAML 1.2 without anchors, aliases and tags, so that a value has one meaning and one place. It reads the
 * events of the parser and checks bounds before it builds nodes. For one text and one thread.
 */
final class YamlParser {
    private static final int LONGEST_NUMBER = 40;
    private static final Pattern NUMBER = Pattern.compile("[-+]?(?:\\.[0-9]+|[0-9]+(?:\\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,6})?");

    private final DocumentLimits limits;
    private final Iterator<Event> events;
    private int values;
    private int depth;

    private YamlParser(String text, DocumentLimits limits) {
        this.limits = limits;
        // The length is checked before: the parser's own bound is never reached.
        LoadSettings settings = LoadSettings.builder().setCodePointLimit(Integer.MAX_VALUE).build();
        events = new Parse(settings).parseString(text).iterator();
    }

    /** The text is not such a document; the message has the reason. */
    static final class NotRead extends Exception {
        private static final long serialVersionUID = 1L;

        private final int line;

        NotRead(String message, int line) {
            super(message);
            this.line = line;
        }

        Finding finding() {
            return new Finding("", String.valueOf(getMessage()), line);
        }
    }

    /**
     * Parses a text.
     *
     * @throws NotRead when it is not a document, or too large
     */
    static Node parse(String text, DocumentLimits limits) throws NotRead {
        if (text.length() > limits.bytes()) {
            throw new NotRead("is longer than the limit of " + limits.bytes() + " characters", 0);
        }
        try {
            return new YamlParser(text, limits).document();
        } catch (MarkedYamlEngineException e) {
            String problem = e.getProblem() == null ? "it cannot be parsed" : e.getProblem();
            throw new NotRead("is not YAML: " + problem.replace('\n', ' '), e.getProblemMark().map(YamlParser::line).orElse(0));
        } catch (YamlEngineException e) {
            throw new NotRead("is not YAML: " + String.valueOf(e.getMessage()).replace('\n', ' '), 0);
        }
    }

    private Node document() throws NotRead {
        Node root = null;
        while (events.hasNext()) {
            Event event = events.next();
            if (event instanceof DocumentStartEvent) {
                if (root != null) {
                    throw new NotRead("is more than one document", line(event));
                }
                root = node(events.next());
            } else if (event instanceof StreamEndEvent) {
                break;
            }
        }
        if (root == null) {
            throw new NotRead("is empty: the shortest policy is {}, which has all defaults", 0);
        }
        return root;
    }

    private Node node(Event event) throws NotRead {
        if (++values > limits.values()) {
            throw new NotRead("has more than the limit of " + limits.values() + " values", line(event));
        }
        if (event instanceof AliasEvent || (event instanceof NodeEvent node && node.getAnchor().isPresent())) {
            throw new NotRead("has an anchor or alias, which are not supported: repeat the value", line(event));
        }
        if (event instanceof ScalarEvent scalar) {
            plain(scalar.getTag(), event);
            return scalar(scalar);
        }
        if (!(event instanceof CollectionStartEvent start)) {
            throw new IllegalStateException("a node begins with " + event);
        }
        plain(start.getTag(), event);
        if (++depth > limits.depth()) {
            throw new NotRead("is nested deeper than the limit of " + limits.depth() + " levels", line(event));
        }
        Node node = start instanceof MappingStartEvent ? mapping(line(event)) : items(line(event));
        depth--;
        return node;
    }

    private static void plain(Optional<String> tag, Event event) throws NotRead {
        if (tag.isPresent()) {
            throw new NotRead("has the tag " + tag.get() + ", and tags are not supported", line(event));
        }
    }

    private Node mapping(int line) throws NotRead {
        List<Node.Entry> entries = new ArrayList<>();
        for (Event event = events.next(); !(event instanceof MappingEndEvent); event = events.next()) {
            Node key = node(event);
            if (!(event instanceof ScalarEvent scalar)) {
                throw new NotRead("has a mapping or a list for a key", key.line());
            }
            entries.add(new Node.Entry(scalar.getValue(), node(events.next()), key.line()));
        }
        return new Node.Mapping(List.copyOf(entries), line);
    }

    private Node items(int line) throws NotRead {
        List<Node> items = new ArrayList<>();
        for (Event event = events.next(); !(event instanceof SequenceEndEvent); event = events.next()) {
            items.add(node(event));
        }
        return new Node.Items(List.copyOf(items), line);
    }

    /** By YAML's core schema; only a value without quotes can be anything but a text. */
    private static Node scalar(ScalarEvent event) {
        String value = event.getValue();
        int line = line(event);
        if (!event.isPlain()) {
            return new Node.Text(value, line);
        }
        return switch (value) {
            case "", "~", "null", "Null", "NULL" -> new Node.Nothing(line);
            case "true", "True", "TRUE" -> new Node.Flag(true, line);
            case "false", "False", "FALSE" -> new Node.Flag(false, line);
            case ".nan", ".NaN", ".NAN" -> new Node.NotFinite(Double.NaN, line);
            case ".inf", "+.inf", ".Inf", "+.Inf", ".INF", "+.INF" -> new Node.NotFinite(Double.POSITIVE_INFINITY, line);
            case "-.inf", "-.Inf", "-.INF" -> new Node.NotFinite(Double.NEGATIVE_INFINITY, line);
            default -> value.length() <= LONGEST_NUMBER && NUMBER.matcher(value).matches()
                    ? new Node.Decimal(new BigDecimal(value), line)
                    : new Node.Text(value, line);
        };
    }

    private static int line(Event event) {
        return event.getStartMark().map(YamlParser::line).orElse(0);
    }

    private static int line(Mark mark) {
        return mark.getLine() + 1;
    }
}
