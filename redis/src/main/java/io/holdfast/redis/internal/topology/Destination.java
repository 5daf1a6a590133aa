package io.holdfast.redis.internal.topology;

import io.holdfast.redis.internal.connection.CommandLink;

/**
 * Where a command is sent. Not nested in {@link Topology}: what is nested in an interface is public.
 *
 * @param link to the server
 * @param asking whether the server wants to hear {@code ASKING} first
 */
public record Destination(CommandLink link, boolean asking) {}
