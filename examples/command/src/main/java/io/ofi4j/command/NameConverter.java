package io.ofi4j.command;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A name that is given with an option: not empty. */
public final class NameConverter implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
        if (text.isBlank()) {
            throw new TypeConversionException("the name is empty; leave the option out, or see 'ofi4j info' for names");
        }
        return text;
    }
}
