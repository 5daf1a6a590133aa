package io.holdfast.redis.internal.topology;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.DriverClient;
import io.holdfast.redis.internal.connection.ServerQuery;
import io.holdfast.redis.internal.error.KnownError;
import io.holdfast.redis.internal.topology.SlotMap.Node;
import io.holdfast.spi.support.Mailbox;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * The masters of a cluster, with one {@link CommandLink} each. It does not use the driver's own cluster connection:
 * that one repeats a redirected command although no caller waits for it any more, and rejects the first command for
 * each server.
 *
 * <p>The client requests the map of slots with the first command, after a redirection that contradicts its map, and
 * when a server does not answer. It does not do so at a fixed pace: a redirection always reveals a wrong map. One
 * request for the map is under way at a time.
 */
public final class ClusterTopology implements Topology {

    /**
     * {@code RenewalFanOut} soon gives up a renewal for the sake of the other masters: that alone does not mean that
     * the server is silent.
     */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    /** The shortest time between two requests for the map, however many commands fail. */
    private static final long REFRESH_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** After that, the client requests the map from other servers. */
    private static final long REFRESH_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * How many servers get a request for the map at once. The first answer counts, so a server that hangs delays
     * nothing.
     */
    private static final int ASKED_AT_ONCE = 4;

    /** A server that is not in the map any more, or a connection, is given up after it has not answered for this time. */
    private static final Duration FORGET = Duration.ofSeconds(5);

    private final DriverClient driver;
    private final List<RedisURI> seeds;
    private final ConcurrentMap<Node, CommandLink> links = new ConcurrentHashMap<>();
    private final AtomicInteger turn = new AtomicInteger();
    private final AtomicBoolean isTidyingUp = new AtomicBoolean();

    /** Calls that wait for a map, in their order: a future would call its dependents in the reverse order. */
    private final Queue<Unlocated> unlocated = new ConcurrentLinkedQueue<>();

    private final Mailbox locating = new Mailbox(thrown -> Operators.onErrorDropped(thrown, Context.empty()));

    /** Null before the first command. */
    private final AtomicReference<@Nullable Refresh> refresh = new AtomicReference<>();

    /** Written by the driver's threads, with each answer. */
    private volatile SlotMap map = SlotMap.EMPTY;

    /** Written once, before the first command. */
    private volatile @Nullable TopologyListener listener;

    /** A request for the map, sent at that time or to be sent then. */
    private record Refresh(long atNanos, CompletableFuture<SlotMap> answer) {

        boolean isUnderWay(long nowNanos) {
            return !answer.isDone() && nowNanos - atNanos < REFRESH_LIMIT_NANOS;
        }
    }

    /** A call to a slot whose master was not known, or that came behind such a call. */
    private record Unlocated(int slot, CompletableFuture<SlotMap> answer, CompletableFuture<CommandLink> found) {}

    public ClusterTopology(DriverClient driver, List<RedisURI> seeds) {
        this.driver = driver;
        this.seeds = List.copyOf(seeds);
    }

    @Override
    public CompletableFuture<CommandLink> linkFor(String key) {
        int slot = groupOf(key);
        Node known = map.masterOf(slot);
        if (known != null && !isAwaited(slot)) {
            return CompletableFuture.completedFuture(linkTo(known));
        }
        Unlocated call = new Unlocated(
                slot,
                known != null ? CompletableFuture.completedFuture(map) : refreshed(this::some),
                new CompletableFuture<>());
        unlocated.add(call);
        var unused = call.answer().whenComplete((fresh, error) -> locating.post(this::locate));
        return call.found();
    }

    /** Whether calls to this slot still wait, although its master is known by now. */
    private boolean isAwaited(int slot) {
        return !unlocated.isEmpty() && unlocated.stream().anyMatch(it -> it.slot() == slot);
    }

    private void locate() {
        for (var next = unlocated.peek(); next != null && next.answer().isDone(); next = unlocated.peek()) {
            Unlocated call = next;
            var unused = call.answer()
                    .thenApply(fresh -> linkTo(masterIn(fresh, call.slot())))
                    .whenComplete((link, error) -> {
                        boolean unusedToo = error == null
                                ? call.found().complete(link)
                                : call.found().completeExceptionally(error);
                    });
            unlocated.remove(); // only now: a call that comes meanwhile must not pass it
        }
    }

    private static Node masterIn(SlotMap map, int slot) {
        Node master = map.masterOf(slot);
        if (master == null) {
            throw new RedisException("CLUSTERDOWN no server has slot " + slot);
        }
        return master;
    }

    @Override
    public CompletableFuture<CommandLink> anyLink() {
        SlotMap known = map;
        CompletableFuture<SlotMap> some =
                known.nodes().isEmpty() ? refreshed(this::some) : CompletableFuture.completedFuture(known);
        return some.thenApply(
                fresh -> linkTo(rotated(fresh.nodes(), turn.getAndIncrement()).get(0)));
    }

    @Override
    public CompletableFuture<List<CommandLink>> allLinks() {
        return refreshed(this::some)
                .thenApply(fresh -> fresh.nodes().stream().map(this::linkTo).toList());
    }

    @Override
    public @Nullable Destination redirected(RedisURI from, Throwable error) {
        SlotMap.Redirection to = KnownError.isAnswer(error)
                ? SlotMap.redirection(String.valueOf(error.getMessage()), nodeOf(from))
                : null;
        if (to == null) {
            return null;
        }
        if (to.isAsk()) {
            tidyUpLater(); // the target may have no slots yet, and may never get any
        } else if (isNews(to)) {
            // The server that redirects knows of the move; others may not yet. The refresh under way may bring the
            // answer of such a server: then this server gets one more request.
            var unused = refreshedBy(from).whenComplete((fresh, failed) -> {
                if (isNews(to)) {
                    refreshedBy(from);
                }
            });
        }
        return new Destination(linkTo(to.target()), to.isAsk());
    }

    private boolean isNews(SlotMap.Redirection moved) {
        return !moved.target().equals(map.masterOf(moved.slot()));
    }

    @Override
    public void suspect(CommandLink link) {
        Node silent = nodeOf(link.uri());
        refreshed(() -> {
            Set<Node> others = some();
            if (others.size() > 1) {
                others.remove(silent);
            }
            return others;
        });
    }

    /**
     * Other servers know which master has the slots now. This server may have another address: its host may be a name.
     */
    @Override
    public void refused(CommandLink from, @Nullable StatefulRedisConnection<String, String> used, Throwable error) {
        boolean isDemoted = KnownError.isDemoted(error);
        if (isDemoted || KnownError.isCutOff(error)) {
            suspect(from);
        }
        if (isDemoted) {
            from.leave(used);
        }
    }

    @Override
    public void listener(TopologyListener watcher) {
        listener = watcher;
    }

    @Override
    public String tagOf(RedisURI server) {
        return nodeOf(server).tag();
    }

    @Override
    public @Nullable String tagOf(int group) {
        Node master = map.masterOf(group);
        return master == null ? null : master.tag();
    }

    @Override
    public @Nullable String hashTagAt(RedisURI server, int first) {
        return map.hashTagOf(nodeOf(server), first);
    }

    @Override
    public int groupOf(String key) {
        return SlotHash.getSlot(key.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public boolean hasSeveralMasters() {
        return true;
    }

    @Override
    public boolean isClosed() {
        return driver.isClosed();
    }

    @CanIgnoreReturnValue
    private CompletableFuture<SlotMap> refreshedBy(RedisURI one) {
        return refreshed(() -> Set.of(nodeOf(one)));
    }

    /**
     * Returns the answer to the request that is under way, else to a new one, sent now or when the pause since the last
     * one is over.
     */
    @CanIgnoreReturnValue
    private CompletableFuture<SlotMap> refreshed(Supplier<Set<Node>> servers) {
        Refresh last = refresh.get();
        long now = driver.nanoTime();
        if (last != null && last.isUnderWay(now)) {
            return last.answer();
        }
        long pause = last == null ? 0 : Math.max(0, last.atNanos() + REFRESH_PAUSE_NANOS - now);
        Refresh mine = new Refresh(now + pause, new CompletableFuture<>());
        if (!refresh.compareAndSet(last, mine)) {
            return refreshed(servers);
        }
        if (last != null
                && !last.answer().isDone()) { // calls that wait for a request that hangs get the answer to this one
            var unused = mine.answer().whenComplete((fresh, error) -> {
                boolean unusedToo = error == null
                        ? last.answer().complete(fresh)
                        : last.answer().completeExceptionally(error);
            });
        }
        if (pause == 0) {
            request(servers.get(), mine.answer());
        } else {
            driver.later(Duration.ofNanos(pause), () -> request(servers.get(), mine.answer()));
        }
        return mine.answer();
    }

    /**
     * Returns all known servers, each time beginning with other ones. A seed is among those that get a request: its host may be a name, and
     * all servers may have new addresses.
     */
    private Set<Node> some() {
        int first = turn.getAndIncrement();
        List<Node> masters = rotated(map.nodes(), first);
        Set<Node> known = new LinkedHashSet<>(masters.subList(0, Math.min(masters.size(), ASKED_AT_ONCE - 1)));
        rotated(seeds, first).forEach(seed -> known.add(nodeOf(seed)));
        known.addAll(masters);
        return known;
    }

    private void request(Set<Node> servers, CompletableFuture<SlotMap> answer) {
        List<Node> chosen = servers.stream().limit(ASKED_AT_ONCE).toList();
        AtomicInteger open = new AtomicInteger(chosen.size());
        for (Node node : chosen) {
            CommandLink link = linkTo(node);
            CompletableFuture<List<Object>> answered = ServerQuery.clusterSlots(link);
            driver.later(FORGET, () -> doubtUnless(answered, link));
            var unused = answered.thenApply(slots -> SlotMap.read(slots, node)).whenComplete((map, error) -> {
                SlotMap fresh = error == null ? map : SlotMap.EMPTY;
                if (!fresh.nodes().isEmpty() && !answer.isDone()) {
                    try {
                        adopt(fresh);
                    } finally {
                        answer.complete(fresh);
                    }
                } else if (open.decrementAndGet() == 0) {
                    answer.completeExceptionally(
                            error != null ? error : new RedisException("CLUSTERDOWN no server has any slot"));
                }
            });
        }
    }

    /** Calls that wait for the map are sent to no server, so no time limit of theirs shows that a connection is dead. */
    private static void doubtUnless(CompletableFuture<?> answered, CommandLink link) {
        if (!answered.isDone()) {
            link.doubt(link.ready(), () -> {});
        }
    }

    private void adopt(SlotMap fresh) {
        boolean isNew = !fresh.isSameAs(map);
        map = fresh;
        TopologyListener watcher = listener;
        if (isNew && watcher != null) {
            watcher.moved();
        }
        if (!fresh.nodes().containsAll(links.keySet())) {
            tidyUpLater();
        }
    }

    private void tidyUpLater() {
        if (isTidyingUp.compareAndSet(false, true)) {
            driver.later(FORGET, this::tidyUp);
        }
    }

    /** Closes the links to servers that have no slots; not at once, since a caller may still wait for an answer. */
    private void tidyUp() {
        isTidyingUp.set(false);
        Set<Node> masters = Set.copyOf(map.nodes());
        long longAgo = driver.nanoTime() - FORGET.toNanos();
        links.forEach((node, link) -> {
            if (!masters.contains(node)
                    && link.isSilentSince(longAgo)
                    && !isWaitedAt(link)
                    && links.remove(node, link)) {
                link.end();
            }
        });
        if (!masters.containsAll(links.keySet())) {
            tidyUpLater();
        }
    }

    private boolean isWaitedAt(CommandLink link) {
        TopologyListener watcher = listener;
        return watcher != null && watcher.isWaitedAt(link.uri());
    }

    private CommandLink linkTo(Node node) {
        return links.computeIfAbsent(node, it -> new CommandLink(driver, uriOf(it), PATIENCE));
    }

    private RedisURI uriOf(Node node) {
        return RedisURI.builder(seeds.get(0))
                .withHost(node.host())
                .withPort(node.port())
                .build();
    }

    private static Node nodeOf(RedisURI uri) {
        return new Node(uri.getHost(), uri.getPort());
    }

    private static <E> List<E> rotated(List<E> all, int by) {
        List<E> rotated = new ArrayList<>(all);
        Collections.rotate(rotated, by);
        return rotated;
    }
}
