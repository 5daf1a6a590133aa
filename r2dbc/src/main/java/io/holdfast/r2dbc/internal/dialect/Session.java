package io.holdfast.r2dbc.internal.dialect;

import io.r2dbc.spi.Connection;

/**
 * A connection with our settings.
 *
 * @param name by which another connection finds its session in the server; empty where none can, or need not
 */
public record Session(Connection connection, String name) {}
