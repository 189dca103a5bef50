/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A process that puts and deletes one key, or holds the lock of object 1 until it is killed. */
final class StoreRemoverChild {
    private StoreRemoverChild() {}

    /** Arguments: DIRECTORY "hold", or DIRECTORY and a number of deletes, which begin at a line of input. */
    public static void main(String[] arguments) throws Exception {
        Path root = Path.of(arguments[0]);
        DirectoryStore store = DirectoryStore.open(root, DirectoryStore.Options.DEFAULTS);
        if (arguments[1].equals("hold")) {
            StoreDirectory directory = new StoreDirectory(root, DirectoryStore.Options.DEFAULTS);
            directory.locks().alone(directory.fan(StoreContractTest.name(1)), StoreRemoverChild::sayAndWait);
            return;
        }
        sayAndWait();
        Churn churn = new Churn(List.of(store)).until(Integer.parseInt(arguments[1]));
        churn.given().forEach(generation -> System.out.println("given " + generation));
        churn.failures().forEach(System.out::println);
    }

    private static int sayAndWait() throws IOException {
        System.out.println("ready");
        return System.in.read();
    }

    static Process start(Path directory, String what) throws IOException {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(), "--enable-native-access=ALL-UNNAMED", "-Xmx128m", "-cp",
                        System.getProperty("java.class.path"), StoreRemoverChild.class.getName(), directory.toString(), what)
                .redirectErrorStream(true)
                .start();
        for (String line = child.inputReader().readLine(); !"ready".equals(line); line = child.inputReader().readLine()) {
            if (line == null) {
                throw new IOException("the child ended before it was ready");
            }
        }
        return child;
    }
}
