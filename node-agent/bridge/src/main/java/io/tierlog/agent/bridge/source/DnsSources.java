/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import io.tierlog.threads.RareWarning;
import io.tierlog.threads.Supervised;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sources of names, which are looked up again and again on a thread of their own: a resolver that hangs holds no source up. A name that has no
 * address now keeps those it had, since a resolver that fails looks the same. IPv4 alone. {@link #changed} is for one thread.
 */
public final class DnsSources implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DnsSources.class);
    private static final int MOST_ADDRESSES = 1_024;

    private final List<DnsName> names;
    private final Resolver resolver;
    private final long everyMs;
    private final Map<DnsName, List<SourceSpec>> known = new LinkedHashMap<>();
    private final RareWarning warning = new RareWarning(LOG);
    private final CountDownLatch closing = new CountDownLatch(1);
    private volatile List<SourceSpec> latest = List.of();
    private List<SourceSpec> before = List.of();

    /** Looks names up. */
    @FunctionalInterface
    public interface Resolver {
        /**
         * The addresses of a name; may wait.
         *
         * @throws UnknownHostException when there are none
         */
        InetAddress[] resolve(String host) throws UnknownHostException;
    }

    /**
     * Begins at once, where there are names.
     *
     * @param everyMs time between looks
     */
    public DnsSources(List<DnsName> names, Resolver resolver, long everyMs) {
        this.names = List.copyOf(names);
        this.resolver = resolver;
        this.everyMs = everyMs;
        if (!names.isEmpty()) {
            var _ = Supervised.start("bridge-names", this::run);
        }
    }

    private void run() throws InterruptedException {
        do {
            names.forEach(this::look);
            latest = known.values().stream().flatMap(List::stream).toList();
        } while (!closing.await(everyMs, TimeUnit.MILLISECONDS));
    }

    private void look(DnsName name) {
        try {
            List<String> addresses = Arrays.stream(resolver.resolve(name.host()))
                    .filter(Inet4Address.class::isInstance)
                    .map(InetAddress::getHostAddress)
                    .distinct()
                    .sorted()
                    .toList();
            if (addresses.isEmpty()) {
                throw new UnknownHostException(name.host() + " has no IPv4 address");
            }
            if (addresses.size() > MOST_ADDRESSES) {
                warning.warn("{} has {} addresses: {} are left out", name.host(), addresses.size(), addresses.size() - MOST_ADDRESSES);
            }
            List<SourceSpec> sources = new ArrayList<>();
            addresses.stream().limit(MOST_ADDRESSES).forEach(address -> sources.addAll(name.at(address)));
            known.put(name, sources);
        } catch (UnknownHostException | RuntimeException e) {
            warning.warn("{} cannot be looked up, its sources stay as they were: {}", name.host(), e.toString());
        }
    }

    /** The sources of all names when they have changed since the last call. */
    public Optional<List<SourceSpec>> changed() {
        List<SourceSpec> now = latest;
        if (now.equals(before)) {
            return Optional.empty();
        }
        before = now;
        return Optional.of(now);
    }

    @Override
    public void close() {
        closing.countDown();
    }
}
