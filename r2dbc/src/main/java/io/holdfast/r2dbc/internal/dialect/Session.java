package io.holdfast.r2dbc.internal.dialect;

import io.r2dbc.spi.Connection;

/**
 * A connection with the settings of this library.
 *
 * @param name the name by which another connection finds its session in the server; empty if none can, or need not
 */
public record Session(Connection connection, String name) {}
