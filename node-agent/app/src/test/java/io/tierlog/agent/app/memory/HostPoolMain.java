/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

/** Takes a pool of 64 MiB and says so; for a process of its own. */
final class HostPoolMain {
    private HostPoolMain() {}

    public static void main(String[] arguments) {
        try (HostPool pool = HostPool.allocate(16_384, 4_096)) {
            long touched = 0;
            for (int page = 0; page < pool.pages(); page++) {
                touched += pool.page(page).fill((byte) page).byteSize();
            }
            System.out.println(touched + " bytes touched, " + pool.facts());
        }
    }
}
