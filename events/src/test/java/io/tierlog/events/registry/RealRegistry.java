/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Hands the one {@link RegistryProcess} of this JVM to tests that ask for it; JUnit closes it when the last test is over. */
final class RealRegistry implements ParameterResolver {
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == RegistryProcess.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return context.getRoot().getStore(Namespace.create(RealRegistry.class)).getOrComputeIfAbsent(RegistryProcess.class, key -> {
            try {
                return RegistryProcess.start();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            } catch (java.io.IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
    }
}
