package io.holdfast.cli;

import io.holdfast.LockHolder;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import io.holdfast.cli.doctor.Check;
import io.holdfast.cli.doctor.Finding;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Prints tables for people. Escapes text from the back end, so that no lock name sends commands to a terminal or looks like another line. Pure. */
final class Tables {

    /** A list cuts a longer name. {@code show} prints the whole name. */
    private static final int MOST_OF_A_NAME = 50;

    /** The longest label that a client of this library sends fits into this width. */
    private static final int MOST_OF_AN_OWNER = 60;

    private static final String GAP = "  ";
    private static final String NOTHING = "-";

    private Tables() {}

    /** Prints a line for each holder, and one line for a lock without a holder. */
    static List<String> list(List<LockReport> locks) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("LOCK", "KIND", "HOLDER", "HELD", "LEFT", "WAITING"));
        for (LockReport lock : locks) {
            String waiting = Long.toString(lock.waiterCount());
            String name = Printable.start(lock.name(), MOST_OF_A_NAME);
            if (lock.holders().isEmpty()) {
                rows.add(List.of(name, word(lock.type()), NOTHING, NOTHING, NOTHING, waiting));
            }
            for (LockHolder holder : lock.holders()) {
                rows.add(List.of(
                        name,
                        word(holder.kind()),
                        Printable.start(called(holder.owner(), holder.claimId()), MOST_OF_AN_OWNER),
                        duration(holder.held()),
                        duration(holder.remaining()),
                        waiting));
            }
        }
        List<String> lines = new ArrayList<>(aligned(rows));
        long warned = locks.stream().filter(lock -> !lock.warnings().isEmpty()).count();
        if (warned > 0) {
            lines.add("");
            lines.add("%d of these locks have warnings. The command show NAME prints them.".formatted(warned));
        }
        return lines;
    }

    /** Prints one lock with its holders, waiters and warnings. */
    static List<String> show(LockReport lock) {
        List<String> lines = new ArrayList<>();
        lines.add("%s '%s'".formatted(word(lock.type()), Printable.text(lock.name())));
        lock.lastToken().ifPresent(token -> lines.add("  last token  " + token));
        lines.addAll(indented("  ", lock.details()));
        lines.add("  holders     " + lock.holderCount());
        for (LockHolder holder : lock.holders()) {
            lines.add("    " + owner(holder.owner(), holder.claimId()));
            lines.add("      claim  " + Printable.text(holder.claimId()));
            lines.add("      kind   " + word(holder.kind()));
            if (holder.permits() > 1) {
                lines.add("      takes  %d permits".formatted(holder.permits()));
            }
            lines.add("      token  " + holder.fencingToken());
            lines.add("      held   " + duration(holder.held()));
            lines.add("      left   " + duration(holder.remaining()));
            lines.addAll(indented("      ", holder.details()));
        }
        lines.add("  waiters     " + lock.waiterCount());
        for (LockWaiter waiter : lock.waiters()) {
            lines.add("    " + owner(waiter.owner(), waiter.claimId()));
            lines.add("      claim  " + Printable.text(waiter.claimId()));
            lines.add("      kind   " + word(waiter.kind()));
            if (waiter.permits() > 1) {
                lines.add("      wants  %d of %d permits".formatted(waiter.permits(), waiter.allPermits()));
            }
            waiter.waiting().ifPresent(since -> lines.add("      waits  " + Printable.duration(since)));
            lines.addAll(indented("      ", waiter.details()));
        }
        lock.warnings().forEach(warning -> lines.add("  WARNING: " + Printable.text(warning)));
        return lines;
    }

    /** Prints one check, and what to do if it does not work. */
    static List<String> finding(Finding finding) {
        Check check = finding.check();
        String line = "%-13s %s: %s".formatted(finding.result().word(), check.name(), Printable.text(finding.found()));
        return finding.result() == Finding.Result.WORKS
                ? List.of(line)
                : List.of(
                        line,
                        "              " + (check.isNeeded() ? "" : "Locks work without it. ") + check.cost(),
                        "              " + check.help());
    }

    /** Prints the last line. */
    static String verdict(List<Finding> findings) {
        String missing = names(findings, Tables::isMissing);
        String others = names(findings, it -> it.result() != Finding.Result.WORKS);
        return !missing.isEmpty()
                ? "Do not use this server for locks yet. What locks need does not work: " + missing + "."
                : "Locks work on this server." + (others.isEmpty() ? "" : " Options, or not known: " + others + ".");
    }

    private static String names(List<Finding> findings, Predicate<Finding> which) {
        return findings.stream()
                .filter(which)
                .map(it -> it.check().name())
                .distinct()
                .collect(Collectors.joining(", "));
    }

    static boolean isMissing(Finding finding) {
        return finding.check().isNeeded() && finding.result() == Finding.Result.FAILS;
    }

    static String owner(String label, String claimId) {
        return Printable.text(called(label, claimId));
    }

    private static String called(String label, String claimId) {
        return label.isEmpty() ? "claim " + claimId : label;
    }

    static String word(LockReport.Type type) {
        return switch (type) {
            case MUTEX -> "mutex";
            case READ_WRITE -> "read/write lock";
            case SEMAPHORE -> "semaphore";
        };
    }

    static String word(LockKind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    private static String duration(Optional<Duration> duration) {
        return duration.map(Printable::duration).orElse("not known");
    }

    private static List<String> indented(String indent, Map<String, String> details) {
        return details.entrySet().stream()
                .map(it -> indent + Printable.text(it.getKey()) + ": " + Printable.text(it.getValue()))
                .toList();
    }

    private static List<String> aligned(List<List<String>> rows) {
        int columns = rows.get(0).size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        return rows.stream().map(row -> line(row, widths)).toList();
    }

    private static String line(List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String cell = row.get(i);
            line.append(cell).append(" ".repeat(widths[i] - cell.length())).append(GAP);
        }
        return line.toString().stripTrailing();
    }
}
