/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.events.config.Size;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Lets flags take a {@link Size}. */
public final class SizeConverter implements ITypeConverter<Size> {
    @Override
    public Size convert(String text) {
        try {
            return Size.parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(e.getMessage());
        }
    }
}
