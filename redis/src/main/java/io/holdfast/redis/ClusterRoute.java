package io.holdfast.redis;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.redis.SlotMap.Node;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The masters of a cluster, one {@link CommandLink} each. The driver's own cluster connection is not used: it sends a
 * redirected command again although nobody waits for it any more, and rejects the first command for each server.
 *
 * <p>The map of slots is asked for with the first command, after a redirection, and when a server does not answer; not at a
 * fixed pace, since a wrong map is always found out by a redirection.
 */
final class ClusterRoute implements Route {

    /** However many commands fail, the map is asked for at this pace at most. */
    private static final long REFRESH_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** So many servers are asked for the map at once; the first answer counts, so one that hangs delays nothing. */
    private static final int ASKED_AT_ONCE = 4;

    /** A server that is not in the map any more, and has not answered for so long, is given up. */
    private static final long FORGET_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final LettuceClient lettuce;
    private final List<RedisURI> seeds;
    private final ConcurrentMap<Node, CommandLink> links = new ConcurrentHashMap<>();
    private final AtomicInteger turn = new AtomicInteger();

    /** Null before the first command. */
    private final AtomicReference<@Nullable Refresh> refresh = new AtomicReference<>();

    /** Written by the driver's threads, with each answer. */
    private volatile SlotMap map = SlotMap.EMPTY;

    /** Written once, before the first command. */
    private volatile Consumer<RedisURI> listener = uri -> {};

    private record Refresh(long startedAt, CompletableFuture<SlotMap> answer) {}

    ClusterRoute(LettuceClient lettuce, List<RedisURI> seeds) {
        this.lettuce = lettuce;
        this.seeds = List.copyOf(seeds);
    }

    @Override
    public CompletableFuture<CommandLink> linkFor(String key) {
        int slot = groupOf(key);
        Node known = map.masterOf(slot);
        return known != null
                ? CompletableFuture.completedFuture(linkTo(known))
                : refreshed(null).thenApply(fresh -> linkTo(masterIn(fresh, slot)));
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
                known.nodes().isEmpty() ? refreshed(null) : CompletableFuture.completedFuture(known);
        return some.thenApply(fresh -> linkTo(rotated(fresh.nodes()).get(0)));
    }

    @Override
    public @Nullable Stop redirected(CommandLink from, Throwable error) {
        String text = RedisFailures.isAnswer(error) ? String.valueOf(error.getMessage()) : "";
        Node target = SlotMap.target(text, nodeOf(from.uri()));
        if (target == null) {
            return null;
        }
        boolean isAsk = text.startsWith("ASK");
        if (!isAsk) {
            refreshed(null);
        }
        return new Stop(linkTo(target), isAsk);
    }

    @Override
    public void suspect(CommandLink link) {
        refreshed(link);
        listener.accept(link.uri());
    }

    @Override
    public void silent(CommandLink link) {
        suspect(link);
    }

    @Override
    public void onSuspect(Consumer<RedisURI> told) {
        listener = told;
    }

    @Override
    public List<RedisURI> channelServers() {
        List<Node> nodes = map.nodes();
        return rotated(nodes.isEmpty() ? seeds : nodes.stream().map(this::uriOf).toList());
    }

    @Override
    public int groupOf(String key) {
        return SlotHash.getSlot(key.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public boolean isAnyServerAChannel() {
        return true;
    }

    @Override
    public boolean countsReceivers() {
        return false;
    }

    @Override
    public boolean isClosed() {
        return lettuce.isClosed();
    }

    /** The answer to a question that is under way or was just answered, else to a new one. */
    @CanIgnoreReturnValue
    private CompletableFuture<SlotMap> refreshed(@Nullable CommandLink suspect) {
        Refresh last = refresh.get();
        long now = System.nanoTime();
        if (last != null && now - last.startedAt() < REFRESH_PAUSE_NANOS) {
            return last.answer();
        }
        Refresh mine = new Refresh(now, new CompletableFuture<>());
        if (!refresh.compareAndSet(last, mine)) {
            return refreshed(suspect);
        }
        ask(suspect, mine.answer());
        return mine.answer();
    }

    private void ask(@Nullable CommandLink suspect, CompletableFuture<SlotMap> answer) {
        Set<Node> known = new LinkedHashSet<>(rotated(map.nodes()));
        seeds.forEach(seed -> known.add(nodeOf(seed)));
        if (suspect != null && known.size() > 1) {
            known.remove(nodeOf(suspect.uri()));
        }
        List<Node> asked = known.stream().limit(ASKED_AT_ONCE).toList();
        AtomicInteger open = new AtomicInteger(asked.size());
        for (Node node : asked) {
            var unused = linkTo(node).slots().whenComplete((slots, error) -> {
                SlotMap fresh = error == null ? SlotMap.read(slots, node) : SlotMap.EMPTY;
                if (!fresh.nodes().isEmpty() && answer.complete(fresh)) {
                    adopt(fresh);
                } else if (open.decrementAndGet() == 0) {
                    answer.completeExceptionally(
                            error != null ? error : new RedisException("CLUSTERDOWN no server has any slot"));
                }
            });
        }
    }

    private void adopt(SlotMap fresh) {
        map = fresh;
        Set<Node> wanted = new LinkedHashSet<>(fresh.nodes());
        seeds.forEach(seed -> wanted.add(nodeOf(seed)));
        long longAgo = System.nanoTime() - FORGET_NANOS;
        links.forEach((node, link) -> {
            if (!wanted.contains(node) && link.isSilentSince(longAgo) && links.remove(node, link)) {
                boolean unused = link.drop();
            }
        });
    }

    private CommandLink linkTo(Node node) {
        return links.computeIfAbsent(node, it -> new CommandLink(lettuce, uriOf(it)));
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

    private <E> List<E> rotated(List<E> all) {
        List<E> rotated = new ArrayList<>(all);
        Collections.rotate(rotated, turn.getAndIncrement());
        return rotated;
    }
}
