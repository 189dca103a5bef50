/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import java.io.IOException;
import java.io.OutputStream;

/**
 * The main class of the registry server's process: ends it when the tests do, even if they were killed. The tests hold the other end of
 * its standard input and write nothing to it.
 */
final class RegistryProcessMain {
    private RegistryProcessMain() {}

    public static void main(String[] args) throws ReflectiveOperationException {
        Thread leash = new Thread(RegistryProcessMain::endWithTheTests, "leash");
        leash.setDaemon(true);
        leash.start();
        Class.forName("io.quarkus.bootstrap.runner.QuarkusEntryPoint").getMethod("main", String[].class).invoke(null, (Object) args);
    }

    private static void endWithTheTests() {
        try {
            System.in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            System.err.println("standard input failed: " + e);
        }
        Runtime.getRuntime().halt(2);
    }
}
