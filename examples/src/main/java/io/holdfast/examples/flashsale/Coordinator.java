package io.holdfast.examples.flashsale;

import io.holdfast.examples.flashsale.Report.Killing;
import io.holdfast.examples.flashsale.Report.Outage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Runs one sale: fills the stock, starts three shops, kills one of them while it holds the lock, and hands its buyers to the others.
 * Half way it kills servers of the lock, if the sale is to lose some. It waits until every buyer has an answer. The coordinator itself
 * never uses the lock.
 */
final class Coordinator implements AutoCloseable {

    private static final List<String> SHOPS = List.of("A", "B", "C");

    /** The shop that is killed when half of the stock is left. */
    private static final String VICTIM = "B";

    /** The interval between two reads of the ledger. It limits how exactly the hand-off after the kill is timed. */
    private static final Duration TICK = Duration.ofMillis(5);

    /** If no answer comes for this long, the demo gives up. It is many leases long, and JVMs may take some seconds to start. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Settings settings;
    private final SaleStore store;
    private final SaleKeys keys;
    private final LockServers servers;
    private final Progress progress;
    private final BlockingQueue<ShopLine> lines = new LinkedBlockingQueue<>();
    private final List<ShopProcess> shops = new ArrayList<>();

    // All below are written by the thread that runs the sale.
    private int readyShops;
    private int answered;
    private long advancedNanos;
    private long killedNanos;
    private @Nullable Killing killing;
    private @Nullable Outage outage;

    Coordinator(Settings settings, SaleStore store, SaleKeys keys, LockServers servers, Progress progress) {
        this.settings = settings;
        this.store = store;
        this.keys = keys;
        this.servers = servers;
        this.progress = progress;
    }

    Report run(String redisUri) throws InterruptedException {
        store.fill(settings.items(), settings.buyers());
        for (String name : SHOPS) {
            shops.add(ShopProcess.start(orderFor(name), redisUri, servers.address(), lines::add));
        }
        advancedNanos = System.nanoTime();
        while (readyShops < SHOPS.size()) {
            step();
        }
        progress.say("  %d shops are open".formatted(SHOPS.size()));
        long openedNanos = System.nanoTime();
        shops.forEach(ShopProcess::open);
        while (answered < settings.buyers()) {
            step();
        }
        Duration duration = Duration.ofNanos(System.nanoTime() - openedNanos);
        return new Report(
                settings, SHOPS, store.visits(), Optional.ofNullable(killing), Optional.ofNullable(outage), duration);
    }

    private ShopOrder orderFor(String shop) {
        boolean isVictim = settings.withLock() && shop.equals(VICTIM);
        return new ShopOrder(
                shop, keys, settings.withLock(), settings.localHandOver(), isVictim ? settings.items() / 2 : -1);
    }

    private void step() throws InterruptedException {
        ShopLine line = lines.poll(TICK.toNanos(), TimeUnit.NANOSECONDS);
        if (line != null) {
            hear(line);
        }
        int before = answered;
        answered = store.answered();
        if (answered > before) {
            advancedNanos = System.nanoTime();
            noteHandOffAfterTheKill();
            strikeHalfWay();
        } else if (System.nanoTime() - advancedNanos > PATIENCE.toNanos()) {
            throw new IllegalStateException(
                    "no buyer got an answer for %d s: %d of %d shops are ready, %d of %d buyers have an answer"
                            .formatted(PATIENCE.toSeconds(), readyShops, SHOPS.size(), answered, settings.buyers()));
        }
        progress.show(answered, settings.buyers(), store.stock());
    }

    private void hear(ShopLine line) {
        if (line.text().equals(ShopLine.READY)) {
            readyShops++;
        } else if (line.isHolding()) {
            kill(line.shop(), line.tokenInHand());
        } else if (!line.text().equals(ShopLine.ENDED)) {
            progress.say("  [shop %s] %s".formatted(line.shop().name(), line.text()));
        } else if (!line.shop().isKilled()) {
            throw new IllegalStateException("shop %s ended before the sale was over"
                    .formatted(line.shop().name()));
        }
    }

    private void kill(ShopProcess shop, long tokenInHand) {
        int visitsBefore = store.answered();
        killedNanos = System.nanoTime();
        shop.kill();
        int returned = store.returnBuyersOf(shop.name());
        killing = new Killing(shop.name(), tokenInHand, visitsBefore, returned, Duration.ZERO);
        progress.say("  shop %s was killed while it held the lock".formatted(shop.name()));
    }

    private void noteHandOffAfterTheKill() {
        Killing killed = killing;
        if (killed != null && killed.movedOnAfter().isZero() && answered > killed.visitsBefore()) {
            Duration after = Duration.ofNanos(System.nanoTime() - killedNanos);
            killing = new Killing(
                    killed.shop(), killed.tokenInHand(), killed.visitsBefore(), killed.returnedBuyers(), after);
        }
    }

    private void strikeHalfWay() {
        if (outage != null || answered < settings.buyers() / 2) {
            return;
        }
        int killed = servers.strike();
        outage = new Outage(killed, servers.address().servers().size(), store.answered());
        if (killed > 0) {
            progress.say("  killed %d of the %d servers of the lock".formatted(killed, outage.of()));
        }
    }

    @Override
    public void close() {
        shops.forEach(ShopProcess::close);
        store.clear(SHOPS);
    }
}
