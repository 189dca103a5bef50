/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

import io.tierlog.tls.Tls;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * An address to listen on.
 *
 * @param host name or address of this machine
 * @param port from 0 to 65535; 0 takes any free one
 */
public record Endpoint(String host, int port) {
    private static final int MAX_PORT = 65_535;

    /** Refuses ports that do not exist. */
    public Endpoint {
        if (port < 0 || port > MAX_PORT) {
            throw new IllegalArgumentException("port " + port + " is not between 0 and " + MAX_PORT);
        }
    }

    /**
     * Parses HOST:PORT; an IPv6 address stands in brackets.
     *
     * @throws IllegalArgumentException when the text is something else
     */
    public static Endpoint parse(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        try {
            int port = Integer.parseInt(text.substring(colon + 1));
            boolean bracketed = host.startsWith("[") && host.endsWith("]");
            if (!host.isEmpty() && (bracketed || host.indexOf(':') < 0)) {
                return new Endpoint(bracketed ? host.substring(1, host.length() - 1) : host, port);
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(notAnAddress(text), e);
        }
        throw new IllegalArgumentException(notAnAddress(text));
    }

    private static String notAnAddress(String text) {
        return "'" + text + "' is not HOST:PORT, for example 127.0.0.1:8081";
    }

    /**
     * The address as the operating system takes it.
     *
     * @throws IllegalArgumentException when the name has no address
     */
    public InetSocketAddress toSocketAddress() {
        try {
            return new InetSocketAddress(InetAddress.getByName(host), port);
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("unknown host '" + host + "': give a name or an address of this machine", e);
        }
    }

    /**
     * Refuses an address that other machines reach, for a server that accepts every caller.
     *
     * @param option that gave the address
     * @param danger what every caller does then
     * @param remedy what to do
     * @throws IllegalArgumentException when it is not of this machine alone
     */
    public void requireLoopback(String option, String danger, String remedy) {
        if (!toSocketAddress().getAddress().isLoopbackAddress()) {
            throw new IllegalArgumentException(
                    option + " " + this + " can be reached from other machines, and without tokens every caller " + danger + ": " + remedy);
        }
    }

    /** The URL of an HTTP server at it, without a path. */
    public String url(Tls tls) {
        return (tls.serves() ? "https://" : "http://") + this;
    }

    @Override
    public String toString() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }
}
