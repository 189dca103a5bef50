/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * Address of a peer API, or of a directory.
 *
 * @param host name or address; an IPv6 address without brackets
 * @param port 0 to 65535; 0 for any free one, to listen on
 */
public record PeerAddress(String host, int port) {
    public PeerAddress {
        if (host.isEmpty() || port < 0 || port > 65_535) {
            throw new IllegalArgumentException("an address is HOST:PORT with a port of 0 to 65535, not " + host + ":" + port);
        }
    }

    /**
     * Reads HOST:PORT, or [HOST]:PORT for an IPv6 address.
     *
     * @throws IllegalArgumentException for anything else
     */
    public static PeerAddress parse(String text) {
        int colon = text.lastIndexOf(':');
        String host = colon < 0 ? "" : text.substring(0, colon);
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        } else if (host.indexOf(':') >= 0) {
            host = "";
        }
        try {
            return new PeerAddress(host, Integer.parseInt(text.substring(colon + 1)));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is not HOST:PORT, for example 127.0.0.1:7171", e);
        }
    }

    /** Whether only this machine can reach it. An unknown host is not. */
    boolean isLoopback() {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            return false;
        }
    }

    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
