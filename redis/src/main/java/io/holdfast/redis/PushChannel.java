package io.holdfast.redis;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Sinks;
import reactor.util.concurrent.Queues;

/**
 * What the servers tell this client: one {@link PushLine}, in a cluster one for each master where a claim waits, for all watched
 * claims. Opened when a claim first has to wait there. A watch is one entry in a map.
 *
 * <p>In a cluster each line has a channel of its own, so that the count of receivers at the server that publishes is exact and a message
 * comes once. A claim is told {@code Armed} of the line to the server that its last look was sent to, and of no other.
 */
final class PushChannel implements PushLine.Listener, RouteListener {

    /**
     * Two threads meet at one watch only for as long as one of them hands a signal over. Not {@code busyLooping}: its time is up for
     * good after the first use.
     */
    private static final Sinks.EmitFailureHandler RETRY =
            (signal, result) -> result == Sinks.EmitResult.FAIL_NON_SERIALIZED;

    /** Between attempts to open a line for claims that take it for open. */
    private static final Duration REOPEN_PAUSE = Duration.ofSeconds(1);

    private final Driver driver;
    private final Route route;
    private final String name;
    private final RedisFailures failures;
    private final ToIntFunction<LockClaim> groupOf;
    private final Consumer<PushMessage> giveBack;

    private final ConcurrentMap<String, Watched> watches = new ConcurrentHashMap<>();

    private final HeadLooks atHead;

    /** By the tags of their servers. */
    private final ConcurrentMap<String, PushLine> lines = new ConcurrentHashMap<>();

    /**
     * Without a line.
     *
     * @param name what the names of the channels begin with
     * @param groupOf as {@link Route#groupOf}, of a claim's key
     * @param giveBack releases a grant that nobody here waits for
     */
    PushChannel(
            Driver driver,
            Route route,
            String name,
            RedisFailures failures,
            ToIntFunction<LockClaim> groupOf,
            Consumer<PushMessage> giveBack) {
        this.driver = driver;
        this.route = route;
        this.name = name;
        this.failures = failures;
        this.groupOf = groupOf;
        this.giveBack = giveBack;
        atHead = new HeadLooks(driver::later, driver::nanoTime, this::changed);
        route.listener(this);
    }

    /** The channel that this client has, or would have, at a server. */
    String nameAt(CommandLink link) {
        String tag = route.tagOf(link);
        PushLine line = lines.get(tag);
        return line == null ? nameOf(tag) : line.name();
    }

    private String nameOf(String tag) {
        return tag.isEmpty() ? name : name + tag;
    }

    /** The channel for the scripts to publish to, for a look that is about to be sent there; empty when this claim has to poll. */
    String nameFor(String claimId, CommandLink link) {
        Watched watched = watches.get(claimId);
        if (watched == null) {
            return "";
        }
        PushLine line = lineTo(link);
        if (!line.isOfUse()) {
            return "";
        }
        // Signals came from elsewhere so far, or it was not known from where: after this look, one more misses nothing.
        if (watched.moveTo(line) && line.isUp()) {
            tell(watched, new WatchSignal.Armed());
        }
        return line.name();
    }

    private PushLine lineTo(CommandLink link) {
        String tag = route.tagOf(link);
        PushLine known = lines.get(tag);
        return known != null
                ? known
                : lines.computeIfAbsent(tag, it -> new PushLine(driver, link.uri(), it, nameOf(it), this));
    }

    Flux<WatchSignal> watch(LockClaim claim) {
        return Flux.defer(() -> {
            AtomicReference<Sinks.@Nullable Many<WatchSignal>> self = new AtomicReference<>();
            Sinks.Many<WatchSignal> watch = Sinks.many()
                    .unicast()
                    .onBackpressureBuffer(
                            Queues.<WatchSignal>unboundedMultiproducer().get(), () -> remove(claim.id(), self.get()));
            self.set(watch);
            // Into the map first: whichever of this thread and the line's comes second sees the other.
            Watched watched = watches.compute(
                    claim.id(), (id, known) -> known == null ? watched(claim, watch) : known.with(watch));
            PushLine line = watched.line();
            if (line != null && line.isUp()) {
                watch.emitNext(new WatchSignal.Armed(), RETRY);
            }
            return watch.asFlux();
        });
    }

    private Watched watched(LockClaim claim, Sinks.Many<WatchSignal> watch) {
        int group = route.hasSeveralMasters() ? groupOf.applyAsInt(claim) : 0;
        String tag = lines.isEmpty() ? null : route.tagOf(group);
        return new Watched(group, tag == null ? null : lines.get(tag), watch);
    }

    private void remove(String claimId, Sinks.@Nullable Many<WatchSignal> watch) {
        atHead.remove(claimId);
        watches.computeIfPresent(claimId, (id, watched) -> watched.without(watch));
    }

    /** Tells the watches of a claim that it should look again. */
    void changed(String claimId) {
        Watched watched = watches.get(claimId);
        if (watched != null) {
            tell(watched, new WatchSignal.Changed());
        }
    }

    int watchCount() {
        return watches.size();
    }

    /**
     * Opens the line to the server that this claim's last look was sent to, if the claim is watched. Returns at once.
     *
     * @param millis until this claim looks again, if it goes on waiting
     */
    void openFor(String claimId, long millis) {
        Watched watched = watches.get(claimId);
        PushLine line = watched == null ? null : watched.line();
        if (line != null) {
            line.openFor(millis);
        }
    }

    @Override
    public void suspect(CommandLink link) {
        PushLine line = lines.get(route.tagOf(link));
        if (line != null && line.leave() && isWaitedAt(line)) {
            line.open();
        }
    }

    /**
     * A claim whose key is elsewhere now has a channel that the server there does not hear: it looks again, there. One that holds
     * the lock renews, and is told of nothing but its own messages from then on.
     */
    @Override
    public void moved() {
        watches.values().forEach(watched -> {
            PushLine line = watched.line();
            if (line != null && !line.tag().equals(route.tagOf(watched.group())) && watched.leave(line)) {
                tell(watched, new WatchSignal.Changed());
            }
        });
    }

    @Override
    public boolean endUnused(Set<String> tagsInUse) {
        Set<PushLine> waitedAt = new HashSet<>();
        watches.values().forEach(watched -> {
            PushLine line = watched.line();
            if (line != null) {
                waitedAt.add(line);
            }
        });
        lines.forEach((tag, line) -> {
            if (!tagsInUse.contains(tag) && !waitedAt.contains(line) && lines.remove(tag, line)) {
                line.end();
            }
        });
        return tagsInUse.containsAll(lines.keySet());
    }

    private boolean isWaitedAt(PushLine line) {
        return watches.values().stream().anyMatch(watched -> line.equals(watched.line()));
    }

    @Override
    public void isUp(PushLine line) {
        tellAll(line, new WatchSignal.Armed());
    }

    /** With several masters, the line may stay away while another server takes over the keys: looks find out which. */
    @Override
    public void isInterrupted(PushLine line) {
        if (route.hasSeveralMasters()) {
            tellAll(line, new WatchSignal.Changed());
        }
    }

    /** Claims whose former line was up look seldom; their next look opens this one. */
    @Override
    public void isUnreachable(PushLine line) {
        driver.later(REOPEN_PAUSE, () -> tellAll(line, new WatchSignal.Changed()));
    }

    @Override
    public void isRefused(PushLine line, Throwable error) {
        RedisFailures.Subject subject =
                new RedisFailures.Subject("", "subscribe to channel '%s'".formatted(line.name()));
        watches.values().stream()
                .filter(watched -> line.equals(watched.line()))
                .forEach(watched -> watched.each(watch -> watch.emitError(failures.of(subject, error), RETRY)));
    }

    @Override
    public void received(String text) {
        PushMessage.Head head = PushMessage.Head.parse(text);
        if (head != null) {
            if (watches.containsKey(head.claimId())) {
                atHead.add(head.claimId(), head.lookWithin());
            }
            return;
        }
        PushMessage message = PushMessage.parse(text);
        if (message == null) {
            return;
        }
        atHead.remove(message.claimId());
        Watched watched = watches.get(message.claimId());
        if (watched != null) {
            tell(watched, message.signal());
        } else {
            giveBack.accept(message);
        }
    }

    private void tellAll(PushLine line, WatchSignal signal) {
        watches.values().forEach(watched -> {
            if (line.equals(watched.line())) {
                tell(watched, signal);
            }
        });
    }

    private static void tell(Watched watched, WatchSignal signal) {
        watched.each(watch -> watch.emitNext(signal, RETRY));
    }
}
