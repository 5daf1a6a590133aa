package io.holdfast.redis.internal.connection;

import io.lettuce.core.LettuceVersion;
import io.lettuce.core.resource.Transports;
import io.netty.util.Version;
import java.util.function.Supplier;

/** Whether the versions of the driver and of Netty fit. Otherwise a class or a method is missing, and only when a client connects. */
final class DriverVersions {

    private DriverVersions() {}

    static <T> T fitting(Supplier<T> madeByDriver) {
        try {
            Class<?> unused = Transports.eventLoopGroupClass();
            return madeByDriver.get();
        } catch (NoClassDefFoundError | NoSuchMethodError missing) {
            Version netty = Version.identify().get("netty-common");
            throw new IllegalStateException(
                    "Lettuce %s and Netty %s do not fit together, or are too old: locks need Lettuce 6.6 or later, and Lettuce 7 needs Netty 4.2. Take both versions from one dependency management, such as that of Spring Boot"
                            .formatted(
                                    LettuceVersion.getVersion(),
                                    netty == null ? "of an unknown version" : netty.artifactVersion()),
                    missing);
        }
    }
}
