package io.holdfast.redis.internal.topology;

import io.holdfast.redis.internal.connection.CommandLink;

/**
 * Where a command is sent. Not nested in {@link Topology}: a type nested in an interface is public.
 *
 * @param link to the server
 * @param asking whether the server needs {@code ASKING} before the command
 */
public record Destination(CommandLink link, boolean asking) {}
