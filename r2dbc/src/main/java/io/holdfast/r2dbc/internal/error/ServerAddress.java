package io.holdfast.r2dbc.internal.error;

import io.holdfast.spi.support.Printable;
import io.r2dbc.spi.ConnectionFactoryOptions;
import io.r2dbc.spi.Option;
import org.jspecify.annotations.Nullable;

/** Builds the name of a server for messages: its user, host, port and database. */
public final class ServerAddress {

    private static final int MOST_CHARS = 200;

    private ServerAddress() {}

    /** Returns a text such as {@code app@db1:5432/shop}; null if the options name no host. Reads no other options. */
    public static @Nullable String of(ConnectionFactoryOptions options) {
        String host = text(options, ConnectionFactoryOptions.HOST, "", "");
        if (host.isEmpty()) {
            return null;
        }
        String whole = text(options, ConnectionFactoryOptions.USER, "", "@")
                + host
                + text(options, ConnectionFactoryOptions.PORT, ":", "")
                + text(options, ConnectionFactoryOptions.DATABASE, "/", "");
        return Printable.start(whole, MOST_CHARS);
    }

    /** Some drivers accept a source of a value in place of the value. Such a value is left out. */
    private static String text(ConnectionFactoryOptions options, Option<?> option, String before, String after) {
        Object value = options.getValue(option);
        return value instanceof CharSequence || value instanceof Integer ? before + value + after : "";
    }
}
