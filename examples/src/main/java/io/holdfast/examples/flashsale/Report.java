package io.holdfast.examples.flashsale;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What a sale came to: pure arithmetic over the ledger.
 *
 * @param settings what was asked for
 * @param shops their names
 * @param visits the ledger, in its order
 * @param killing of one shop; empty when there was none
 * @param outage of the lock's servers; empty when the sale was over too soon
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
     * One shop's end.
     *
     * @param shop its name
     * @param tokenInHand of the lease that it held
     * @param visitsBefore how long the ledger was: nobody else can have written while this shop held the lock
     * @param returnedBuyers those that it had taken and not answered
     * @param movedOnAfter from the kill to the first answer under the next grant
     */
    record Killing(String shop, long tokenInHand, int visitsBefore, int returnedBuyers, Duration movedOnAfter) {}

    /**
     * What happened to the lock's servers half way.
     *
     * @param killed so many of them
     * @param of how many there were
     * @param visitsBefore how long the ledger was when the last of them was dead
     */
    record Outage(int killed, int of, int visitsBefore) {}

    long sold() {
        return visits.stream().filter(Visit::isSale).count();
    }

    long oversold() {
        return Math.max(0, sold() - settings.items());
    }

    /** Buyers with an answer; a second answer to the same one does not count. */
    long answered() {
        return visits.stream().mapToInt(Visit::buyer).distinct().count();
    }

    /** The tokens in the order of the grants, that of the killed holder at its place. */
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

    /** Without a lock there are no tokens, and nothing else was promised less. */
    boolean isPromiseKept() {
        boolean isEachItemSoldOnce = sold() == Math.min(settings.items(), settings.buyers());
        boolean isEveryBuyerAnswered = answered() == settings.buyers() && visits.size() == settings.buyers();
        return isEachItemSoldOnce && isEveryBuyerAnswered && (!settings.withLock() || areTokensRising());
    }

    /** The time that so many of a hundred buyers waited at most, by the nearest rank. */
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
            row(table, "shop killed", "%s, with the lock in hand", killed.shop());
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
