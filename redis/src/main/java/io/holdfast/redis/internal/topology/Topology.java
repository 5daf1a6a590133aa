package io.holdfast.redis.internal.topology;

import io.holdfast.redis.internal.connection.CommandLink;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Which server gets a command: what one server, the master behind sentinels, and a cluster differ in. */
public interface Topology {

    /** The server that has this key, by what is known now. */
    CompletableFuture<CommandLink> linkFor(String key);

    /** Any server: for a sign of life. */
    CompletableFuture<CommandLink> anyLink();

    /** Every master: for a look at all keys. */
    CompletableFuture<List<CommandLink>> allLinks();

    /**
     * Where a refused command is to be sent instead.
     *
     * @param from the server that refused it
     * @param error the refusal
     * @return null when it is an error like any other
     */
    @Nullable
    Destination redirected(RedisURI from, Throwable error);

    /** This server cannot be reached: it may not be the master any more. Returns at once. */
    void suspect(CommandLink link);

    /** This server did not answer in time, and its connection was given up for a new one. Returns at once. */
    void silent(CommandLink link);

    /**
     * This server answered a command with an error, which may say that it is not the master any more. Returns at once.
     *
     * @param used the connection that the answer came on; null when that is not in force any more
     */
    void refused(CommandLink link, @Nullable StatefulRedisConnection<String, String> used, Throwable error);

    /** Sets the listener, which is told what is found out. Called once, before the first command. */
    void listener(TopologyListener listener);

    /** What tells this server from the others in the name of the channel that is heard there; empty when there are no others. */
    String tagOf(RedisURI server);

    /** The tag of the server that has the keys of this group, by what is known now; null when it is not known. */
    @Nullable
    String tagOf(int group);

    /**
     * A hash tag in one of the slots that this server has, by what is known now; null when it has none, and where there are no slots.
     *
     * @param first clients with different numbers have different tags most of the time
     */
    @Nullable
    String hashTagAt(RedisURI server, int first);

    /** Keys with the same number may be in one script call, and are at one server. */
    int groupOf(String key);

    /**
     * Whether keys can go from one server to another. PUBLISH reaches the subscribers at all of them, but only those at the server
     * that runs it are counted.
     */
    boolean hasSeveralMasters();

    boolean isClosed();
}
