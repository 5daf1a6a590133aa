package io.holdfast.benchmarks.report;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The parameters of a benchmark as users would say them. */
final class Words {

    private static final Map<String, String> STORES =
            Map.of("ZooKeeper", "ZooKeeper", "Waiting", "ZooKeeper", "Redlock", "Redlock", "Postgres", "PostgreSQL");

    private static final Map<String, String> HEALTHS = Map.of(
            "HEALTHY", "",
            "ONE_HUNG", "one master hung",
            "TWO_DOWN", "two masters down",
            "DELAYED", "slow masters");

    private Words() {}

    /** The store that a benchmark uses. */
    static String store(String benchmark) {
        return STORES.entrySet().stream()
                .filter(it -> benchmark.startsWith(it.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse("Redis");
    }

    /** The kind of work that a benchmark does; its own name if it is none of the usual two. */
    static String workload(String benchmark) {
        if (benchmark.endsWith("Uncontended")) {
            return store(benchmark) + " without contention";
        }
        return benchmark.endsWith("Contended") ? "one lock on " + store(benchmark) : benchmark;
    }

    /**
     * All parameters that are named.
     *
     * @param names in the order of the words
     */
    static String of(List<String> names, Map<String, String> parameters) {
        return names.stream()
                .filter(parameters::containsKey)
                .map(it -> of(it, parameters.getOrDefault(it, "")))
                .filter(words -> !words.isEmpty())
                .collect(Collectors.joining(", "));
    }

    private static String of(String name, String value) {
        return switch (name) {
            case "inFlight" -> value.equals("1") ? "one lock at a time" : "%s locks at a time".formatted(number(value));
            case "waiters" -> value.equals("1") ? "one waiter" : "%s waiters".formatted(number(value));
            case "processes" -> value.equals("1") ? "one process" : "two processes";
            case "leases" -> "%s leases".formatted(number(value));
            case "masters" -> health(value);
            default -> value;
        };
    }

    /** What is wrong with the masters; empty for nothing. */
    static String health(String value) {
        String words = HEALTHS.get(value);
        if (words == null) {
            throw new IllegalArgumentException("add words for users: '%s' has none".formatted(value));
        }
        return words;
    }

    private static String number(String value) {
        return String.format(Locale.ROOT, "%,d", Long.parseLong(value));
    }
}
