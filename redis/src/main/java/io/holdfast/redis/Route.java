package io.holdfast.redis;

import io.lettuce.core.RedisURI;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Which server gets a command: what one server, the master behind sentinels, and a cluster differ in. */
interface Route {

    /** The server that has this key, by what is known now. */
    CompletableFuture<CommandLink> linkFor(String key);

    /** Any server: for a sign of life. */
    CompletableFuture<CommandLink> anyLink();

    /**
     * Where a refused command is to be sent instead.
     *
     * @param from who refused it
     * @param error the refusal
     * @return null when it is an error like any other
     */
    @Nullable
    Stop redirected(CommandLink from, Throwable error);

    /** This server cannot be reached: it may not be the master any more. Returns at once. */
    void suspect(CommandLink link);

    /** This server did not answer in time, and its connection was given up for a new one. Returns at once. */
    void silent(CommandLink link);

    /** Tells the listener which server is suspect. Called once, before the first command. */
    void onSuspect(Consumer<RedisURI> listener);

    /** Servers to open the channel at, the best one first. The next call may begin with another one. */
    List<RedisURI> channelServers();

    /** Keys with the same number may be in one script call. */
    int groupOf(String key);

    /** Whether a message reaches a subscriber at whichever server, so that a lost one can be replaced by another. */
    boolean isAnyServerAChannel();

    /**
     * Whether PUBLISH counts all receivers. In a cluster it counts only those of the server that it runs on, and tells
     * nothing about the rest.
     */
    boolean countsReceivers();

    boolean isClosed();
}
