package io.ofi4j.documentation;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.resolver.AddressResolver;
import io.netty.util.Timer;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apiguardian.api.API;
import org.junit.jupiter.api.Test;
import org.junit.platform.commons.support.AnnotationSupport;
import org.opentest4j.TestAbortedException;

/** The modules that the sources of some artifacts are compiled with, beside those of the project. */
public final class LibraryModules {
    private LibraryModules() {}

    /** Their jars, as a module path. */
    public static String path() {
        return Stream
                .of(Test.class, AnnotationSupport.class, TestAbortedException.class, API.class, Channel.class,
                        ByteBuf.class, Timer.class, AddressResolver.class)
                .map(LibraryModules::jar).collect(Collectors.joining(":"));
    }

    private static String jar(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }
}
