package io.holdfast.proof.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * The data of one Redis, and the commands that our scripts use, by the server's documentation. A key is gone when the server's wall clock is past its
 * expiry. Any other command is an error, so that a script that uses more fails.
 */
final class RedisMemory {

    /** An error answer of a command. */
    static final class RedisError extends RuntimeException {

        private static final long serialVersionUID = 1L;

        RedisError(String message) {
            super(message);
        }
    }

    /** Receives published messages. */
    interface Channels {

        int receivers(String channel);

        int publish(String channel, String message);

        int publishSharded(String channel, String message);
    }

    /** Checks each command before it runs, and may throw. */
    @FunctionalInterface
    interface Guard {

        void check(List<String> command);
    }

    /** The values of some keys. */
    static final class Extract {

        private final Map<String, Entry> entries;
        private final List<String> missing;

        private Extract(Map<String, Entry> entries, List<String> missing) {
            this.entries = entries;
            this.missing = missing;
        }
    }

    private record ListOfTexts(Deque<String> texts) {}

    private record Scored(double score, String member) {}

    private static final class SortedSet {

        final Map<String, Double> scores = new HashMap<>();
        final TreeSet<Scored> order =
                new TreeSet<>(Comparator.comparingDouble(Scored::score).thenComparing(Scored::member));

        boolean add(String member, double score) {
            Double before = scores.put(member, score);
            if (before != null) {
                order.remove(new Scored(before, member));
            }
            order.add(new Scored(score, member));
            return before == null;
        }

        boolean remove(String member) {
            Double before = scores.remove(member);
            return before != null && order.remove(new Scored(before, member));
        }
    }

    private static final class Entry {

        final Object value;
        long expiresAtMillis = Long.MAX_VALUE;

        Entry(Object value) {
            this.value = value;
        }

        Entry copy() {
            Entry copy = new Entry(copyOf(value));
            copy.expiresAtMillis = expiresAtMillis;
            return copy;
        }

        private static Object copyOf(Object value) {
            if (value instanceof Map<?, ?> hash) {
                return new LinkedHashMap<>(hash);
            } else if (value instanceof ListOfTexts list) {
                return new ListOfTexts(new ArrayDeque<>(list.texts()));
            } else if (value instanceof SortedSet set) {
                SortedSet copy = new SortedSet();
                set.order.forEach(one -> copy.add(one.member(), one.score()));
                return copy;
            }
            return value;
        }
    }

    /** The write commands of our scripts; a replica refuses them. */
    private static final Set<String> WRITES = Set.of(
            "DEL",
            "SET",
            "SETRANGE",
            "PEXPIRE",
            "HSET",
            "HSETNX",
            "HDEL",
            "RPUSH",
            "LTRIM",
            "ZADD",
            "ZREM",
            "ZREMRANGEBYRANK",
            "ZREMRANGEBYSCORE");

    private final Map<String, Entry> entries = new HashMap<>();
    private final LongSupplier micros;
    private final Channels channels;
    private Consumer<List<String>> written = command -> {};
    private boolean isReplica;

    /** Whether a command of the master is applied: only the master decides which keys have expired. */
    private boolean isApplying;

    private Guard guard = command -> {};

    RedisMemory(LongSupplier micros, Channels channels) {
        this.micros = micros;
        this.channels = channels;
    }

    void flush() {
        entries.clear();
    }

    /** Receives each command that changes data, with absolute times, as a replica gets it. */
    void written(Consumer<List<String>> told) {
        written = told;
    }

    /** Sets whether this server accepts only the writes of its master. */
    void isReplica(boolean now) {
        isReplica = now;
    }

    /** Applies a command of the master. */
    void apply(List<String> command) {
        isApplying = true;
        try {
            Object unused = execute(command);
            written.accept(command);
        } finally {
            isApplying = false;
        }
    }

    /** Saves the current data, to restore it later. */
    Runnable snapshot() {
        Consumer<RedisMemory> then = contents();
        return () -> then.accept(this);
    }

    /** Copies the current data, for this or another memory to load. */
    Consumer<RedisMemory> contents() {
        Map<String, Entry> then = copy(entries);
        return other -> {
            other.entries.clear();
            other.entries.putAll(copy(then));
        };
    }

    /** Returns the values that are strings. */
    List<String> texts() {
        return entries.values().stream()
                .filter(entry -> entry.value instanceof String)
                .map(entry -> (String) entry.value)
                .toList();
    }

    private static Map<String, Entry> copy(Map<String, Entry> from) {
        Map<String, Entry> copies = new HashMap<>();
        from.forEach((key, entry) -> copies.put(key, entry.copy()));
        return copies;
    }

    /** Copies the values of these keys. */
    Extract extract(Collection<String> keys) {
        Map<String, Entry> copies = new HashMap<>();
        List<String> missing = new ArrayList<>();
        for (String key : keys) {
            Entry entry = live(key);
            if (entry == null) {
                missing.add(key);
            } else {
                copies.put(key, entry.copy());
            }
        }
        return new Extract(copies, missing);
    }

    /**
     * Replaces the values of these keys by those of another memory, and deletes keys that it does not have.
     *
     * @param laterMillis is added to each expiry
     */
    void put(Extract others, long laterMillis) {
        entries.keySet().removeAll(others.missing);
        others.entries.forEach((key, entry) -> {
            Entry copy = entry.copy();
            copy.expiresAtMillis += copy.expiresAtMillis == Long.MAX_VALUE ? 0 : laterMillis;
            entries.put(key, copy);
        });
    }

    boolean has(String key) {
        return live(key) != null;
    }

    void guard(Guard other) {
        guard = other;
    }

    List<String> keys() {
        return List.copyOf(entries.keySet()).stream()
                .filter(key -> live(key) != null)
                .sorted()
                .toList();
    }

    /** A number, a text, null for nothing, or a list of these. */
    Object run(List<String> command) {
        guard.check(command);
        if (!WRITES.contains(command.get(0))) {
            return execute(command);
        }
        if (isReplica) {
            throw new RedisError("READONLY You can't write against a read only replica.");
        }
        Object reply = execute(command);
        written.accept(absolute(command));
        return reply;
    }

    private List<String> absolute(List<String> command) {
        if (command.get(0).equals("PEXPIRE")) {
            return List.of("PEXPIREAT", command.get(1), Long.toString(millis() + number(command.get(2))));
        } else if (command.get(0).equals("SET")
                && command.size() == 5
                && command.get(3).equals("PX")) {
            String time = Long.toString(millis() + number(command.get(4)));
            return List.of("SET", command.get(1), command.get(2), "PXAT", time);
        }
        return command;
    }

    private Object execute(List<String> command) {
        String name = command.get(0);
        String key = command.size() > 1 ? command.get(1) : "";
        return switch (name) {
            case "TIME" -> {
                long now = micros.getAsLong();
                yield List.of(Long.toString(now / 1_000_000), Long.toString(now % 1_000_000));
            }
            case "EXISTS" ->
                command.subList(1, command.size()).stream()
                        .filter(it -> live(it) != null)
                        .count();
            case "DEL" -> {
                boolean was = live(key) != null;
                entries.remove(key);
                yield was ? 1L : 0L;
            }
            case "GET" -> text(key);
            case "SET" -> set(command);
            case "SETRANGE" -> {
                StringBuilder text = new StringBuilder((String) text(key));
                int at = (int) number(command.get(2));
                text.replace(at, at + command.get(3).length(), command.get(3));
                execute(List.of("SET", key, text.toString(), "KEEPTTL"));
                yield (long) text.length();
            }
            case "PTTL" -> ttl(key);
            case "PEXPIRE" -> expire(key, millis() + number(command.get(2)));
            case "PEXPIREAT" -> expire(key, number(command.get(2)));
            case "HGET" -> hash(key, false).get(command.get(2));
            case "HMGET" -> {
                Map<String, String> hash = hash(key, false);
                List<Object> values = new ArrayList<>();
                command.subList(2, command.size()).forEach(field -> values.add(hash.get(field)));
                yield values;
            }
            case "HSET" -> {
                Map<String, String> hash = hash(key, true);
                long added = 0;
                for (int i = 2; i < command.size(); i += 2) {
                    added += hash.put(command.get(i), command.get(i + 1)) == null ? 1 : 0;
                }
                yield added;
            }
            case "HSETNX" -> hash(key, true).putIfAbsent(command.get(2), command.get(3)) == null ? 1L : 0L;
            case "HDEL" -> {
                Map<String, String> hash = hash(key, false);
                long removed = hash.keySet().size();
                hash.keySet().removeAll(command.subList(2, command.size()));
                removed -= hash.size();
                dropIfEmpty(key, hash.isEmpty());
                yield removed;
            }
            case "HLEN" -> (long) hash(key, false).size();
            case "HRANDFIELD" -> some(hash(key, false), number(command.get(2)));
            case "LLEN", "LRANGE", "LPOS", "LTRIM", "RPUSH" -> listed(name, key, command);
            case "PUBLISH" -> (long) channels.publish(key, command.get(2));
            case "SPUBLISH" -> (long) channels.publishSharded(key, command.get(2));
            case "PUBSUB" -> List.of(command.get(2), (long) channels.receivers(command.get(2)));
            default -> name.startsWith("Z") ? sorted(name, key, command) : unknown(command);
        };
    }

    private Object listed(String name, String key, List<String> command) {
        ListOfTexts list = list(key, name.endsWith("PUSH"));
        Deque<String> texts = list.texts();
        return switch (name) {
            case "LLEN" -> (long) texts.size();
            case "LRANGE" ->
                command.get(3).equals("-1")
                        ? texts.stream().skip(number(command.get(2))).toList()
                        : unknown(command);
            case "LPOS" -> {
                int place = List.copyOf(texts).indexOf(command.get(2));
                yield place < 0 ? null : (Object) (long) place;
            }
            case "LTRIM" -> {
                if (!command.subList(2, 4).equals(List.of("1", "0"))) {
                    yield unknown(command);
                }
                texts.clear();
                dropIfEmpty(key, true);
                yield "OK";
            }
            case "RPUSH" -> {
                texts.addAll(command.subList(2, command.size()));
                yield (long) texts.size();
            }
            default -> unknown(command);
        };
    }

    /** Returns fields with their values. The time chooses them instead of chance, so that a schedule can be repeated. */
    private List<Object> some(Map<String, String> hash, long count) {
        List<String> fields = new ArrayList<>(hash.keySet());
        Collections.rotate(fields, (int) (micros.getAsLong() % Math.max(1, fields.size())));
        List<Object> chosen = new ArrayList<>();
        fields.stream().limit(count).forEach(field -> {
            chosen.add(field);
            chosen.add(hash.get(field));
        });
        return chosen;
    }

    private Object sorted(String name, String key, List<String> command) {
        SortedSet set = sortedSet(key, name.equals("ZADD"));
        return switch (name) {
            case "ZADD" -> {
                long added = 0;
                for (int i = 2; i < command.size(); i += 2) {
                    added += set.add(command.get(i + 1), Double.parseDouble(command.get(i))) ? 1 : 0;
                }
                yield added;
            }
            case "ZCARD" -> (long) set.scores.size();
            case "ZSCORE" -> {
                Double score = set.scores.get(command.get(2));
                yield score == null ? null : score(score);
            }
            case "ZRANK" -> {
                Double score = set.scores.get(command.get(2));
                yield score == null
                        ? null
                        : (Object) (long) set.order
                                .headSet(new Scored(score, command.get(2)))
                                .size();
            }
            case "ZREM" -> {
                long removed = command.subList(2, command.size()).stream()
                        .filter(set::remove)
                        .count();
                dropIfEmpty(key, set.scores.isEmpty());
                yield removed;
            }
            case "ZMSCORE" -> {
                List<Object> scores = new ArrayList<>();
                command.subList(2, command.size()).forEach(member -> {
                    Double score = set.scores.get(member);
                    scores.add(score == null ? null : score(score));
                });
                yield scores;
            }
            case "ZRANGE" -> {
                boolean withScores = command.size() > 4;
                if (withScores && !command.get(4).equals("WITHSCORES")) {
                    yield unknown(command);
                }
                yield told(slice(set.order, number(command.get(2)), number(command.get(3))), withScores);
            }
            case "ZRANGEBYSCORE" -> {
                double least = Double.parseDouble(command.get(2));
                boolean withScores = command.size() == 8 && command.get(4).equals("WITHSCORES");
                int limit = withScores ? 5 : 4;
                boolean isLimited = command.size() == limit + 3
                        && command.subList(limit, limit + 2).equals(List.of("LIMIT", "0"));
                if (command.size() != 4 && !isLimited) {
                    yield unknown(command);
                }
                double most = command.get(3).equals("+inf") ? Double.MAX_VALUE : Double.parseDouble(command.get(3));
                yield told(
                        set.order.stream()
                                .filter(it -> it.score() >= least && it.score() <= most)
                                .limit(isLimited ? number(command.get(limit + 2)) : Long.MAX_VALUE)
                                .toList(),
                        withScores);
            }
            case "ZRANGEBYLEX" -> {
                String from = command.get(2).substring(1);
                String to = command.get(3).substring(1);
                long most = command.size() == 4 ? Long.MAX_VALUE : number(command.get(6));
                yield set.scores.keySet().stream()
                        .filter(it -> it.compareTo(from) >= 0 && it.compareTo(to) < 0)
                        .sorted()
                        .limit(most)
                        .toList();
            }
            case "ZRANDMEMBER" -> {
                List<String> members =
                        new ArrayList<>(set.order.stream().map(Scored::member).toList());
                Collections.rotate(members, (int) (micros.getAsLong() % Math.max(1, members.size())));
                yield members.stream().limit(number(command.get(2))).toList();
            }
            case "ZREMRANGEBYSCORE" -> {
                List<Scored> gone = set.order.stream()
                        .filter(it -> it.score() <= Double.parseDouble(command.get(3)))
                        .toList();
                gone.forEach(it -> set.remove(it.member()));
                dropIfEmpty(key, set.scores.isEmpty());
                yield (long) gone.size();
            }
            case "ZREMRANGEBYRANK" -> {
                List<Scored> gone = slice(set.order, number(command.get(2)), number(command.get(3)));
                gone.forEach(it -> set.remove(it.member()));
                dropIfEmpty(key, set.scores.isEmpty());
                yield (long) gone.size();
            }
            default -> unknown(command);
        };
    }

    private static Object unknown(List<String> command) {
        throw new RedisError("ERR not simulated: " + command);
    }

    private static List<Scored> slice(Collection<Scored> all, long from, long to) {
        List<Scored> list = List.copyOf(all);
        int first = (int) Math.max(0, from < 0 ? list.size() + from : from);
        int last = (int) Math.min(list.size() - 1L, to < 0 ? list.size() + to : to);
        return first > last ? List.of() : list.subList(first, last + 1);
    }

    private static List<Object> told(List<Scored> some, boolean withScores) {
        List<Object> all = new ArrayList<>();
        for (Scored one : some) {
            all.add(one.member());
            if (withScores) {
                all.add(score(one.score()));
            }
        }
        return all;
    }

    private static String score(double score) {
        return Long.toString((long) score); // whole numbers only, as our scripts write them
    }

    private Object set(List<String> command) {
        Entry entry = new Entry(command.get(2));
        if (command.size() == 5) {
            long time = number(command.get(4));
            switch (command.get(3)) {
                case "PX" -> entry.expiresAtMillis = millis() + time;
                case "PXAT" -> entry.expiresAtMillis = time;
                case "EXAT" -> entry.expiresAtMillis = time * 1_000;
                default -> unknown(command);
            }
        } else if (command.size() == 4 && command.get(3).equals("KEEPTTL")) {
            Entry before = live(command.get(1));
            entry.expiresAtMillis = before == null ? Long.MAX_VALUE : before.expiresAtMillis;
        } else if (command.size() != 3) {
            return unknown(command);
        }
        entries.put(command.get(1), entry);
        return "OK";
    }

    private Long ttl(String key) {
        Entry entry = live(key);
        if (entry == null) {
            return -2L;
        }
        return entry.expiresAtMillis == Long.MAX_VALUE ? -1L : Math.max(0, entry.expiresAtMillis - millis());
    }

    private Long expire(String key, long atMillis) {
        Entry entry = live(key);
        if (entry == null) {
            return 0L;
        }
        entry.expiresAtMillis = atMillis;
        if (!isApplying && atMillis <= millis()) {
            entries.remove(key);
        }
        return 1L;
    }

    private Object text(String key) {
        Entry entry = live(key);
        if (entry == null) {
            return null;
        }
        return entry.value instanceof String text ? text : wrongType();
    }

    @SuppressWarnings("unchecked") // hashes are the only maps in here
    private Map<String, String> hash(String key, boolean creates) {
        Entry entry = live(key);
        if (entry == null) {
            Map<String, String> empty = new LinkedHashMap<>();
            if (creates) {
                entries.put(key, new Entry(empty));
            }
            return empty;
        }
        return entry.value instanceof Map<?, ?> map ? (Map<String, String>) map : (Map<String, String>) wrongType();
    }

    private ListOfTexts list(String key, boolean creates) {
        Entry entry = live(key);
        if (entry == null) {
            ListOfTexts empty = new ListOfTexts(new ArrayDeque<>());
            if (creates) {
                entries.put(key, new Entry(empty));
            }
            return empty;
        }
        return entry.value instanceof ListOfTexts list ? list : (ListOfTexts) wrongType();
    }

    private SortedSet sortedSet(String key, boolean creates) {
        Entry entry = live(key);
        if (entry == null) {
            SortedSet empty = new SortedSet();
            if (creates) {
                entries.put(key, new Entry(empty));
            }
            return empty;
        }
        return entry.value instanceof SortedSet set ? set : (SortedSet) wrongType();
    }

    private static Object wrongType() {
        throw new RedisError("WRONGTYPE Operation against a key holding the wrong kind of value");
    }

    private void dropIfEmpty(String key, boolean isEmpty) {
        if (isEmpty) {
            entries.remove(key);
        }
    }

    private Entry live(String key) {
        Entry entry = entries.get(key);
        if (entry != null && !isApplying && millis() > entry.expiresAtMillis) {
            if (!isReplica) {
                entries.remove(key);
                written.accept(List.of("DEL", key));
            }
            return null;
        }
        return entry;
    }

    private long millis() {
        return micros.getAsLong() / 1_000;
    }

    private static long number(String digits) {
        return Long.parseLong(digits);
    }
}
