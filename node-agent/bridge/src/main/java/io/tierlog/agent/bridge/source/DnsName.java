/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A source for each address that a name has, as a headless service of Kubernetes gives one for each pod.
 *
 * @param host the name
 * @param line the source, with that name as its host
 */
public record DnsName(String host, String line) {
    /** Stands for the address in the replay address. */
    public static final String ADDRESS = "{address}";

    private static final Pattern NAMED = Pattern.compile("tcp://([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?):.*");

    /**
     * Reads one line, which is that of a source.
     *
     * @throws IllegalArgumentException when it cannot be read, with what to write instead
     */
    public static DnsName parse(String line) {
        Matcher named = NAMED.matcher(line.strip());
        if (!named.matches()) {
            throw new IllegalArgumentException("'" + line + "' names no host: write tcp://NAME:PORT replay=tcp://" + ADDRESS + ":PORT");
        }
        DnsName name = new DnsName(named.group(1), line.strip());
        // What is wrong with the rest shows now.
        name.at("127.0.0.1");
        return name;
    }

    /** The sources at one address, one for each rank. */
    List<SourceSpec> at(String address) {
        return SourceSpec.parse(line.replaceFirst(Pattern.quote(host), address).replace(ADDRESS, address));
    }
}
