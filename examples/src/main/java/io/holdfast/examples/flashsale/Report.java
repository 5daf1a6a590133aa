package io.holdfast.examples.flashsale;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The result of a sale: pure arithmetic over the ledger.
 *
 * @param settings the settings of the sale
 * @param shops the names of the shops
 * @param visits the entries of the ledger, in order
 * @param killing the kill of one shop; empty if no shop was killed
 * @param outage the outage of the lock's servers; empty if the sale was over too soon
 * @param duration from the opening to the last answer
 */
record Report(
        Settings settings,
        List<String> shops,
        List<Visit> visits,
        Optional<Killing> killing,
        Optional<Outage> outage,
        Duration duration) {

    /**
     * The kill of one shop.
     *
     * @param shop its name
     * @param tokenInHand the token of the lease that it held
     * @param visitsBefore the length of the ledger at that moment: no other shop can have written while this shop held the lock
     * @param returnedBuyers the number of buyers that it had taken and not answered
     * @param movedOnAfter the time from the kill to the first answer under the next grant
     */
    record Killing(String shop, long tokenInHand, int visitsBefore, int returnedBuyers, Duration movedOnAfter) {}

    /**
     * The outage of servers of the lock half way.
     *
     * @param killed the number of killed servers
     * @param of the number of all servers
     * @param visitsBefore the length of the ledger when the last of them was dead
     */
    record Outage(int killed, int of, int visitsBefore) {}

    long sold() {
        return visits.stream().filter(Visit::isSale).count();
    }

    long oversold() {
        return Math.max(0, sold() - settings.items());
    }

    /** Counts the buyers with an answer. A second answer to the same buyer does not count. */
    long answered() {
        return visits.stream().mapToInt(Visit::buyer).distinct().count();
    }

    /** Returns the tokens in the order of the grants, with that of the killed holder in its place. */
    List<Long> tokens() {
        List<Long> tokens = visits.stream().map(Visit::fencingToken).collect(Collectors.toCollection(ArrayList::new));
        killing.ifPresent(killed -> tokens.add(killed.visitsBefore(), killed.tokenInHand()));
        return tokens;
    }

    boolean areTokensRising() {
        List<Long> tokens = tokens();
        for (int i = 1; i < tokens.size(); i++) {
            if (tokens.get(i - 1) >= tokens.get(i)) {
                return false;
            }
        }
        return true;
    }

    /** Returns whether the sale kept all promises. Without a lock there are no tokens to check; all other promises are the same. */
    boolean isPromiseKept() {
        boolean isEachItemSoldOnce = sold() == Math.min(settings.items(), settings.buyers());
        boolean isEveryBuyerAnswered = answered() == settings.buyers() && visits.size() == settings.buyers();
        return isEachItemSoldOnce && isEveryBuyerAnswered && (!settings.withLock() || areTokensRising());
    }

    /** Returns a percentile of the waits, by the nearest rank. */
    Duration wait(int percent) {
        long[] sorted = visits.stream().mapToLong(Visit::waitedMicros).sorted().toArray();
        int rank = (int) Math.ceil(sorted.length * percent / 100.0);
        return Duration.ofNanos(1_000 * sorted[Math.max(0, rank - 1)]);
    }

    String toTable() {
        StringBuilder table = new StringBuilder();
        row(table, "items", "%,d", settings.items());
        row(table, "buyers answered", "%,d of %,d", answered(), settings.buyers());
        row(table, "sold", "%,d", sold());
        row(table, "oversold", "%,d", oversold());
        row(table, settings.withLock() ? "grants per shop" : "answers per shop", "%s", perShop());
        if (settings.withLock()) {
            row(table, "wait p50 / p99 / max", "%s / %s / %s", millis(wait(50)), millis(wait(99)), millis(wait(100)));
            outage.filter(some -> some.killed() > 0).ifPresent(some -> {
                row(table, "masters killed", "%d of %d, half way", some.killed(), some.of());
                row(table, "grants before / after", "%,d / %,d", grantsBefore(some), grants() - grantsBefore(some));
                row(table, "first / last token", "%d / %d", tokens().get(0), tokens().get(grants() - 1));
            });
            row(table, "tokens strictly rising", "%s, over %,d grants", areTokensRising() ? "yes" : "NO", grants());
        }
        killing.ifPresent(killed -> {
            row(table, "shop killed", "%s, while it held the lock", killed.shop());
            row(table, "its lock moved on after", "%s (lease %s)", millis(killed.movedOnAfter()), millis(lease()));
            row(table, "its unanswered buyers", "%,d, all taken over by the others", killed.returnedBuyers());
        });
        row(table, "duration", "%.1f s, %,.0f visits per second", seconds(), visitsPerSecond());
        return table.toString();
    }

    double visitsPerSecond() {
        return visits.size() / seconds();
    }

    private int grants() {
        return tokens().size();
    }

    private int grantsBefore(Outage some) {
        boolean isKilledBefore = killing.filter(killed -> killed.visitsBefore() < some.visitsBefore())
                .isPresent();
        return some.visitsBefore() + (isKilledBefore ? 1 : 0);
    }

    private double seconds() {
        return duration.toNanos() / 1e9;
    }

    private String perShop() {
        return shops.stream()
                .map(shop -> "%s %,d".formatted(shop, grantsOf(shop)))
                .collect(Collectors.joining("   "));
    }

    private long grantsOf(String shop) {
        long answers =
                visits.stream().filter(visit -> visit.shop().equals(shop)).count();
        boolean isKilledHere =
                killing.filter(killed -> killed.shop().equals(shop)).isPresent();
        return answers + (isKilledHere ? 1 : 0);
    }

    private static Duration lease() {
        return Shop.LOCK_OPTIONS.leaseDuration();
    }

    private static String millis(Duration duration) {
        return String.format(Locale.ROOT, "%,.1f ms", duration.toNanos() / 1e6);
    }

    private static void row(StringBuilder table, String title, String format, Object... values) {
        table.append(String.format(Locale.ROOT, "  %-24s ", title))
                .append(String.format(Locale.ROOT, format, values))
                .append('\n');
    }
}
