/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

/**
 * The bounds that the JDK's HTTP server takes from system properties, once, when the first server of the process is made. Static.
 *
 * <p>Without them a client that sends half a request holds its connection for ever. The price: they hold for every such server of the process;
 * whoever has set one on the command line keeps it.
 */
public final class HttpBounds {
    private static final int CONNECTIONS = 512;
    private static final int REQUEST_S = 30;
    /** Longer than the longest deadline of a request. */
    private static final int RESPONSE_S = 150;

    private static final String NO_DELAY = "sun.net.httpserver.nodelay";

    private HttpBounds() {}

    /** Sets what is not set. To be called before the first server is made. */
    public static void set() {
        set("jdk.httpserver.maxConnections", CONNECTIONS);
        set("sun.net.httpserver.maxReqTime", REQUEST_S);
        set("sun.net.httpserver.maxRspTime", RESPONSE_S);
        // Or else the second segment of an answer waits 40 ms for the acknowledgement of the first.
        if (System.getProperty(NO_DELAY) == null) {
            System.setProperty(NO_DELAY, "true");
        }
    }

    private static void set(String property, int value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, String.valueOf(value));
        }
    }
}
