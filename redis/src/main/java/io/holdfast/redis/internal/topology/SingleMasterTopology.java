package io.holdfast.redis.internal.topology;

import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.DriverClient;
import io.holdfast.redis.internal.error.KnownError;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One server for all locks: the one that the address names, or the master that the sentinels name. */
public final class SingleMasterTopology implements Topology {

    private final DriverClient driver;
    private final RedisURI uri;
    private final CommandLink link;
    private final CompletableFuture<CommandLink> always;

    /** Written once, before the first command. */
    private volatile @Nullable TopologyListener listener;

    public SingleMasterTopology(DriverClient driver, RedisURI uri) {
        this.driver = driver;
        this.uri = uri;
        link = new CommandLink(driver, uri);
        always = CompletableFuture.completedFuture(link);
    }

    @Override
    public CompletableFuture<CommandLink> linkFor(String key) {
        return always;
    }

    @Override
    public CompletableFuture<CommandLink> anyLink() {
        return always;
    }

    @Override
    public CompletableFuture<List<CommandLink>> allLinks() {
        return CompletableFuture.completedFuture(List.of(link));
    }

    @Override
    public @Nullable Destination redirected(RedisURI from, Throwable error) {
        return null;
    }

    /** Nothing to do: the driver restores a lost connection, and asks the sentinels when it does. */
    @Override
    public void suspect(CommandLink lost) {}

    /** Behind sentinels, a master that is silent may have been replaced; the new connection asks them. */
    @Override
    public void silent(CommandLink silent) {
        if (!uri.getSentinels().isEmpty()) {
            leaveTheChannel(silent);
        }
    }

    /**
     * The address may have another server by now: a name of the DNS, or what the sentinels say. The channel follows when there is a new
     * connection for commands, so that it does not lead to a server that the other one has found out.
     */
    @Override
    public void refused(CommandLink from, @Nullable StatefulRedisConnection<String, String> used, Throwable error) {
        boolean isLeft = KnownError.isDemoted(error)
                || (KnownError.isCutOff(error) && !uri.getSentinels().isEmpty());
        if (isLeft) {
            from.leave(used, () -> {
                var unused = from.made().whenComplete((made, failed) -> leaveTheChannel(from));
            });
        }
    }

    private void leaveTheChannel(CommandLink from) {
        TopologyListener told = listener;
        if (told != null) {
            told.suspect(from.uri());
        }
    }

    @Override
    public void listener(TopologyListener told) {
        listener = told;
    }

    @Override
    public String tagOf(RedisURI server) {
        return "";
    }

    @Override
    public String tagOf(int group) {
        return "";
    }

    @Override
    public @Nullable String hashTagAt(RedisURI server, int first) {
        return null;
    }

    @Override
    public int groupOf(String key) {
        return 0;
    }

    @Override
    public boolean hasSeveralMasters() {
        return false;
    }

    @Override
    public boolean isClosed() {
        return driver.isClosed();
    }
}
