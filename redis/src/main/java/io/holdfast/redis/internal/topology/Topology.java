package io.holdfast.redis.internal.topology;

import io.holdfast.redis.internal.connection.CommandLink;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Finds the server for a command: one server, the master behind sentinels, or a master of a cluster. */
public interface Topology {

    /** Returns the server that has this key, as far as is known now. */
    CompletableFuture<CommandLink> linkFor(String key);

    /** Returns any server, for a ping. */
    CompletableFuture<CommandLink> anyLink();

    /** Returns every master, to read all keys. */
    CompletableFuture<List<CommandLink>> allLinks();

    /**
     * Returns where to send a refused command instead.
     *
     * @param from the server that refused it
     * @param error the refusal
     * @return null if it is an error like any other
     */
    @Nullable
    Destination redirected(RedisURI from, Throwable error);

    /**
     * This server is unreachable, or did not answer in time and got a new connection: it may not be the master any more.
     * Returns at once.
     */
    void suspect(CommandLink link);

    /**
     * This server answered a command with an error, which may mean that it is not the master any more. Returns at once.
     *
     * @param used the connection of the answer; null if that is not in force any more
     */
    void refused(CommandLink link, @Nullable StatefulRedisConnection<String, String> used, Throwable error);

    /** Sets the listener, which gets the changes. Called once, before the first command. */
    void listener(TopologyListener listener);

    /** Returns the part of the channel's name that differs from server to server; empty if there is only one. */
    String tagOf(RedisURI server);

    /**
     * Returns the tag of the server that has the keys of this group, as far as is known now; null if it is not known.
     */
    @Nullable
    String tagOf(int group);

    /**
     * Returns a hash tag in one of the slots that this server has, as far as is known now; null if it has none, or if
     * there are no slots.
     *
     * @param first clients with different numbers have different tags most of the time
     */
    @Nullable
    String hashTagAt(RedisURI server, int first);

    /** Returns the group of a key. Keys of one group may be in one script call, and are at one server. */
    int groupOf(String key);

    /**
     * Whether keys can move from one server to another. PUBLISH reaches the subscribers at all of them, but counts only
     * those at the server that runs it.
     */
    boolean hasSeveralMasters();

    boolean isClosed();
}
