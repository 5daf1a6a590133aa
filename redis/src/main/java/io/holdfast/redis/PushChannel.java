package io.holdfast.redis;

import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;

/**
 * What the servers tell this client: one {@link PushLine}, in a cluster one for each master where a claim waits, for all watched
 * claims. Opened when a claim first has to wait there. A watch is one entry in a map.
 *
 * <p>In a cluster each line has a channel of its own, so that the count of receivers at the server that publishes is exact and a message
 * comes once. A claim is told {@code Armed} of the line to the server that its last look was sent to, and of no other.
 */
final class PushChannel implements PushLine.Listener, RouteListener {

    /** Between attempts to open a line for claims that take it for open. */
    private static final Duration REOPEN_PAUSE = Duration.ofSeconds(1);

    private final Driver driver;
    private final Route route;
    private final String keyPrefix;
    private final String name;
    private final RedisFailures failures;
    private final Function<LockClaim, String> holderKey;
    private final Consumer<PushMessage> giveBack;
    private final GrantSecret secret = GrantSecret.random();
    private final Watches watches;

    /** By the tags of their servers. */
    private final ConcurrentMap<String, PushLine> lines = new ConcurrentHashMap<>();

    /**
     * Without a line.
     *
     * @param clientName by which the names of the channels differ from those of other clients
     * @param holderKey gives a claim's key
     * @param giveBack releases a grant that nobody here waits for
     */
    PushChannel(
            Driver driver,
            Route route,
            String keyPrefix,
            String clientName,
            RedisFailures failures,
            Function<LockClaim, String> holderKey,
            Consumer<PushMessage> giveBack) {
        this.driver = driver;
        this.route = route;
        this.keyPrefix = keyPrefix;
        name = keyPrefix + "client:" + clientName;
        this.failures = failures;
        this.holderKey = holderKey;
        this.giveBack = giveBack;
        watches = new Watches(driver::later, driver::nanoTime);
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

    GrantSecret secret() {
        return secret;
    }

    Watches watches() {
        return watches;
    }

    /** The line that a look which is about to be sent there is to name; null when this claim has to poll. */
    @Nullable
    PushLine lineFor(String claimId, CommandLink link) {
        Watched watched = watches.get(claimId);
        if (watched == null) {
            return null;
        }
        watched.waits(true);
        PushLine line = lineTo(link);
        if (!line.isOfUse()) {
            return null;
        }
        // Signals came from elsewhere so far, or it was not known from where: after this look, one more misses nothing.
        if (watched.moveTo(line) && line.isUp()) {
            watched.tell(new WatchSignal.Armed());
        }
        return line;
    }

    private PushLine lineTo(CommandLink link) {
        String tag = route.tagOf(link);
        PushLine known = lines.get(tag);
        return known != null
                ? known
                : lines.computeIfAbsent(tag, it -> new PushLine(driver, link.uri(), it, nameAt(link, it), this));
    }

    private ChannelName nameAt(CommandLink link, String tag) {
        return new ChannelName(
                nameOf(tag),
                () -> route.hashTagAt(link, name.hashCode()),
                error -> route.redirected(link, error) != null);
    }

    Flux<WatchSignal> watch(LockClaim claim) {
        return new Signals(claim).assembled();
    }

    /** Cold: each subscription is a watch of its own. */
    private final class Signals extends Flux<WatchSignal> {

        private final LockClaim claim;

        Signals(LockClaim claim) {
            this.claim = claim;
        }

        Flux<WatchSignal> assembled() {
            return onAssembly(this);
        }

        @Override
        public void subscribe(CoreSubscriber<? super WatchSignal> subscriber) {
            Watch watch = new Watch(watches, claim, subscriber);
            Watched watched;
            try {
                // Into the map first: of this thread and the line's, the second one sees what the other did.
                watched = watches.add(watched(claim, watch), watch);
            } catch (RuntimeException | Error thrown) {
                Operators.error(subscriber, Operators.onOperatorError(thrown, subscriber.currentContext()));
                return;
            }
            watch.handOver();
            PushLine line = watched.line();
            if (line != null && line.isUp()) {
                watch.tell(new WatchSignal.Armed());
            }
        }
    }

    private Watched watched(LockClaim claim, Watch watch) {
        int group = route.hasSeveralMasters() ? route.groupOf(holderKey.apply(claim)) : 0;
        String tag = lines.isEmpty() ? null : route.tagOf(group);
        return new Watched(claim, group, tag == null ? null : lines.get(tag), watch);
    }

    @Override
    public void suspect(CommandLink link) {
        PushLine line = lines.get(route.tagOf(link));
        if (line != null) {
            line.leaveForAnother();
        }
    }

    /** A claim whose key is elsewhere now has a channel that the server there does not hear: it looks again, there. */
    @Override
    public void moved() {
        watches.tellAll(
                watched -> {
                    PushLine line = watched.line();
                    return line != null && !line.tag().equals(route.tagOf(watched.group())) && watched.leave(line);
                },
                new WatchSignal.Changed());
        lines.values().forEach(PushLine::slotsHaveMoved);
    }

    @Override
    public boolean endUnused(Set<String> tagsInUse) {
        Set<PushLine> waitedAt = new HashSet<>();
        watches.all().forEach(watched -> {
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

    @Override
    public boolean isWaitedAt(PushLine line) {
        return watches.all().anyMatch(watched -> watched.isWaiting() && line.equals(watched.line()));
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

    private void tellAll(PushLine line, WatchSignal signal) {
        watches.tellAll(watched -> line.equals(watched.line()), signal);
    }

    @Override
    public void isRefused(PushLine line, Throwable error) {
        RedisFailures.Subject subject =
                new RedisFailures.Subject("", "subscribe to channel '%s'".formatted(line.name()));
        watches.all()
                .filter(watched -> line.equals(watched.line()))
                .forEach(watched -> watched.fail(failures.of(subject, error)));
    }

    @Override
    public void received(String channel, String text) {
        PushMessage.Head head = PushMessage.Head.parse(text);
        PushMessage message = head == null ? PushMessage.parse(channel, text, secret, keyPrefix) : null;
        if (head != null) {
            watches.atHead(head);
        } else if (message != null && message.keys() == null) {
            watches.hinted(message.claimId());
        } else if (message != null && watches.granted(message, watched -> holderKey.apply(watched.claim()))) {
            giveBack.accept(message);
        }
    }
}
