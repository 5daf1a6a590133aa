package io.holdfast.proof.hostile;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The report of a campaign: a text for the terminal, and the same as Markdown. */
final class Report {

    private final Outcome outcome;

    Report(Outcome outcome) {
        this.outcome = outcome;
    }

    String toText() {
        StringBuilder text = new StringBuilder("%s, seed %d%n"
                .formatted(outcome.order().target().word(), outcome.order().seed()));
        text.append(flaw());
        figures().forEach((what, figure) -> text.append("  %-36s %s%n".formatted(what, figure)));
        text.append("  faults%n".formatted());
        outcome.faults().forEach((kind, count) -> text.append("    %-32s %d%n".formatted(kind, count)));
        text.append(troubles()).append(violations());
        return text.toString();
    }

    String toMarkdown() {
        StringBuilder text = new StringBuilder("## %s, seed %d%n%n| | |%n| --- | --- |%n"
                .formatted(outcome.order().target().word(), outcome.order().seed()));
        figures().forEach((what, figure) -> text.append("| %s | %s |%n".formatted(what, figure)));
        text.append("%n| fault | times |%n| --- | --- |%n".formatted());
        outcome.faults().forEach((kind, count) -> text.append("| %s | %d |%n".formatted(kind.says(), count)));
        return text.append("%n%s%n```%n%s%s```%n".formatted(flaw(), troubles(), violations()))
                .toString();
    }

    private String flaw() {
        Flaw flaw = outcome.order().terms().flaw();
        return flaw == Flaw.NONE ? "" : "Wrong on purpose: %s%n".formatted(flaw.word());
    }

    private String troubles() {
        String leftOut =
                outcome.leftOut().stream().map("Left out: %s%n"::formatted).collect(Collectors.joining());
        return leftOut
                + outcome.troubles().stream()
                        .map("These faults were not tried: %s%n"::formatted)
                        .collect(Collectors.joining());
    }

    private Map<String, String> figures() {
        Unavailability longest = outcome.unavailability();
        Successions successions = outcome.successions();
        Map<String, String> figures = new LinkedHashMap<>();
        figures.put("faults injected", "%d in %s s".formatted(outcome.injected().size(), seconds(outcome.hostile())));
        figures.put("processes killed, frozen", killed() + ", " + frozen());
        figures.put("acquisitions", grouped(outcome.operations()));
        figures.put("grants", grouped(outcome.grants()));
        figures.put("without a lease", counted(outcome.endings()));
        figures.put("leases lost", counted(outcome.losses()));
        figures.put("register: writes taken, refusals", grouped(outcome.taken()) + ", " + grouped(outcome.refused()));
        figures.put(
                "longest time without a grant",
                "%s s, from %s s on; the machine stood still %d times, which does not count"
                        .formatted(seconds(longest.length()), since(longest.fromNanos()), outcome.stalls()));
        figures.put(
                "exclusion not promised",
                "%d times, %.0f %% of the time, with %d overlaps"
                        .formatted(outcome.gaps().size(), 100 * outcome.gapsShare(), outcome.unpromised()));
        figures.put(
                "grants after a validity ran out",
                "%d, the closest after %d ms"
                        .formatted(successions.count(), successions.closest().toMillis()));
        outcome.counts().forEach((what, count) -> figures.put(what, grouped(count)));
        figures.put("violations", grouped(outcome.violations().size()));
        return figures;
    }

    private long killed() {
        return outcome.injected().stream()
                .filter(it -> it.kind() == FaultKind.CLIENT_KILLED)
                .count();
    }

    private long frozen() {
        return outcome.injected().stream()
                .filter(it -> it.kind() == FaultKind.CLIENT_FROZEN)
                .count();
    }

    private String violations() {
        if (outcome.violations().isEmpty()) {
            return "No violation.%n".formatted();
        }
        List<String> all = outcome.violations().stream().map(Object::toString).toList();
        return "%s%n%nSeed %d. Times are nanoseconds; faults were injected at:%n%s%nnot promised:%n%s%n"
                .formatted(String.join("\n", all), outcome.order().seed(), timeline(), gaps());
    }

    private String timeline() {
        return outcome.injected().stream()
                .map(it -> "  %d to %d %s".formatted(it.fromNanos(), it.toNanos(), it.kind()))
                .collect(Collectors.joining("\n"));
    }

    private String gaps() {
        return outcome.gaps().stream()
                .map(it -> "  %d to %d".formatted(it.fromNanos(), it.toNanos()))
                .collect(Collectors.joining("\n"));
    }

    private String since(long nanos) {
        return seconds(Duration.ofNanos(nanos - outcome.fromNanos()));
    }

    private static String seconds(Duration time) {
        return String.format(Locale.ROOT, "%.1f", time.toMillis() / 1000.0);
    }

    private static String grouped(long number) {
        return String.format(Locale.ROOT, "%,d", number);
    }

    private static String counted(Map<String, Long> counts) {
        long sum = counts.values().stream().mapToLong(Long::longValue).sum();
        String parts = counts.entrySet().stream()
                .map(count -> count.getKey() + " " + grouped(count.getValue()))
                .collect(Collectors.joining(", "));
        return grouped(sum) + (parts.isEmpty() ? "" : ": " + parts);
    }
}
