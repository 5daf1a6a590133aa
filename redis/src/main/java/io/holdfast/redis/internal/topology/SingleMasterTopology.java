package io.holdfast.redis.internal.topology;

import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.DriverClient;
import io.holdfast.redis.internal.error.KnownError;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One server for all locks: the server of the address, or the master that the sentinels name. */
public final class SingleMasterTopology implements Topology {

    private final DriverClient driver;
    private final RedisURI uri;
    private final CommandLink link;
    private final CompletableFuture<CommandLink> always;

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

    /** Does nothing: the driver restores a lost connection, and each new connection asks the sentinels. */
    @Override
    public void suspect(CommandLink lost) {}

    /** The address may lead to another server by now: a DNS name, or the sentinels, may have changed. */
    @Override
    public void refused(CommandLink from, @Nullable StatefulRedisConnection<String, String> used, Throwable error) {
        boolean isLeft = KnownError.isDemoted(error)
                || (KnownError.isCutOff(error) && !uri.getSentinels().isEmpty());
        if (isLeft) {
            from.leave(used);
        }
    }

    @Override
    public void listener(TopologyListener watcher) {}

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
