package io.holdfast.proof.sim;

import io.holdfast.LockKind;
import io.holdfast.spi.LockKey;
import io.holdfast.testkit.history.HistoryEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The steps of one mutex at a Redis and at its users, for {@code models/TraceQueue.tla}. It reads the data of the server, and so adds no request to the
 * schedule. Ends early where the model leaves something out.
 */
final class QueueTrace implements LockTrace {

    /** The channels of clients that the model knows. */
    static final List<String> CHANNELS = List.of("A", "B", "C", "D", "E", "F");

    /** The number of claims that the model knows. */
    static final int CLAIMS = 24;

    /** A grant that the store never made: no step with it is explained. */
    private static final int NO_SUCH = 99;

    private static final int WORDS = 4;

    /** The lock between two operations of one script. */
    private static final String NOT_YET = "-1";

    private static final Pattern OPERATION = Pattern.compile("[ATaRrEDB]\\d+");

    /** See {@code record.lua}. */
    private static final Pattern HELD =
            Pattern.compile("1H\\d(\\d{16})(\\d{16})\\d+ \\d+ \\S+ \\S+ \\d+ \\d+\n(.+)", Pattern.DOTALL);

    /** An entry of a waiter, see {@code usual.lua}: its lease, its channel, the number of its last attempt, and when it was seen last. */
    private static final Pattern WAITER = Pattern.compile("(\\d+) \\S+ \\S+ (\\S+) \\S+ \\S+ (\\d+) \\d+ (\\d+)");

    /** A waiter out of reach: its channel, ticket and id, or its id and ticket if it has no channel. */
    private static final Pattern ASIDE = Pattern.compile("- (.+) (\\d+)|(\\S+) (\\d+) (.+)");

    private static final Pattern SUSPECTED = Pattern.compile("(\\S+) 0");

    private record Waiter(String channel, int attempt, long staleAt) {}

    /**
     * The lock at the server.
     *
     * @param token of the holder; 0 for none
     * @param ends the end of the lease, by the clock of the server
     * @param line the waiters in the order of their tickets, those aside too
     */
    private record Seen(
            long token,
            String holder,
            long ends,
            List<String> line,
            Map<String, Waiter> waiters,
            Set<String> aside,
            Set<String> suspected) {

        /** See {@code record.lua}. */
        boolean isPushed() {
            return token != 0 && ends % 2 == 0;
        }
    }

    /** The four arguments of an operation, see {@code lock.lua}. */
    private record Call(String id, char what, String channel, int attempt, boolean isQueued) {

        boolean isAttempt() {
            return "ATa".indexOf(what) >= 0;
        }

        static Call of(List<String> args, int at) {
            String word = args.get(at + 1);
            String[] note = args.get(at + 2).split(" ", -1);
            char what = word.charAt(0);
            return "ATa".indexOf(what) >= 0
                    ? new Call(args.get(at), what, note[2], Integer.parseInt(note[0]), isQueued(args.get(at + 3)))
                    : new Call(args.get(at), what, note[0], 0, false);
        }

        private static boolean isQueued(String words) {
            return words.startsWith("queue");
        }
    }

    private record Belief(String process, int grant, long until) {}

    private final World world;
    private final List<String> steps = new ArrayList<>();
    private final Map<String, String> claims = new HashMap<>();
    private final Map<String, String> channels = new LinkedHashMap<>();

    /** The channel of the last attempt of each claim. */
    private final Map<String, String> channelOf = new HashMap<>();

    /** The number of each grant, from 1, by its token. */
    private final TreeMap<Long, Integer> grants = new TreeMap<>();

    /** The claim of each grant. */
    private final Map<Integer, String> owners = new HashMap<>();

    private final Map<String, LockKey> asked = new HashMap<>();
    private final Map<String, Belief> beliefs = new LinkedHashMap<>();
    private Set<String> heard = Set.of();
    private String key = "";
    private @Nullable Seen last;
    private long overToken;

    /** When the server made the last grant. */
    private long grantedAt;

    private String ended = "";

    private RedisMemory memory;
    private LongSupplier micros;
    private Predicate<String> isHeard;

    QueueTrace(World world) {
        this.world = world;
    }

    /**
     * Connects it to the server.
     *
     * @param data its data
     * @param clock its clock, in microseconds
     * @param hasListener whether a channel has a listener
     */
    void reads(RedisMemory data, LongSupplier clock, Predicate<String> hasListener) {
        memory = data;
        micros = clock;
        isHeard = hasListener;
    }

    @Override
    public String ended() {
        return ended;
    }

    @Override
    public List<String> steps() {
        return claims.size() > CLAIMS ? List.of() : List.copyOf(steps);
    }

    void end(String why) {
        if (ended.isEmpty()) {
            ended = why;
        }
    }

    private void add(String step) {
        if (ended.isEmpty()) {
            steps.add(step);
        }
    }

    private String claim(String id) {
        return claims.computeIfAbsent(id, it -> "c" + (claims.size() + 1));
    }

    private String channel(String name) {
        String known = channels.get(name);
        if (known == null && channels.size() == CHANNELS.size()) {
            end("a seventh channel");
            return CHANNELS.get(0);
        }
        return channels.computeIfAbsent(name, it -> CHANNELS.get(channels.size()));
    }

    private String all(Iterable<String> ids) {
        List<String> names = new ArrayList<>();
        ids.forEach(it -> names.add('"' + claim(it) + '"'));
        return String.join(",", names);
    }

    private String allChannels(Set<String> names) {
        return names.stream().map(it -> '"' + channel(it) + '"').sorted().collect(Collectors.joining(","));
    }

    /** The first mutex that is used. */
    private boolean concerns(List<String> keys) {
        if (key.isEmpty()) {
            key = keys.stream()
                    .filter(it -> it.endsWith("}:mutex") && it.contains("{stock"))
                    .findFirst()
                    .orElse("");
        }
        return ended.isEmpty() && !key.isEmpty() && keys.contains(key);
    }

    private Seen read() {
        String record = (String) memory.run(List.of("GET", key));
        Matcher held = HELD.matcher(record == null ? "" : record);
        boolean isHeld = held.matches();
        Map<String, Long> tickets = new HashMap<>();
        Map<String, Waiter> waiters = new HashMap<>();
        Set<String> aside = new HashSet<>();
        Set<String> suspected = new HashSet<>();
        List<String> queue = texts("ZRANGE", key + ":queue", "0", "-1", "WITHSCORES");
        for (int i = 0; i < queue.size(); i += 2) {
            wait(queue.get(i), Long.parseLong(queue.get(i + 1)), tickets, waiters);
        }
        for (String one : texts("ZRANGE", key + ":aside", "0", "-1")) {
            Matcher mark = SUSPECTED.matcher(one);
            Matcher waiter = ASIDE.matcher(one);
            if (mark.matches()) {
                suspected.add(mark.group(1));
            } else if (waiter.matches()) {
                String id = waiter.group(1) == null ? waiter.group(5) : waiter.group(1);
                String ticket = waiter.group(1) == null ? waiter.group(4) : waiter.group(2);
                if (wait(id, Long.parseLong(ticket), tickets, waiters)) {
                    aside.add(id);
                }
            }
        }
        return new Seen(
                isHeld ? Long.parseLong(held.group(2)) : 0,
                isHeld ? held.group(3) : "",
                isHeld ? Long.parseLong(held.group(1)) : 0,
                tickets.entrySet().stream()
                        .sorted(Map.Entry.comparingByValue(Comparator.naturalOrder()))
                        .map(Map.Entry::getKey)
                        .toList(),
                waiters,
                aside,
                suspected);
    }

    /** Without an entry it waits no more. */
    private boolean wait(String id, long ticket, Map<String, Long> tickets, Map<String, Waiter> waiters) {
        String entry = (String) memory.run(List.of("HGET", key + ":claims", id));
        Matcher parts = WAITER.matcher(entry == null ? "" : entry);
        if (!parts.matches()) {
            return false;
        }
        long half = 500 * Long.parseLong(parts.group(1));
        tickets.put(id, ticket);
        waiters.put(
                id,
                new Waiter(parts.group(2), Integer.parseInt(parts.group(3)), Long.parseLong(parts.group(4)) + half));
        return true;
    }

    private List<String> texts(String... command) {
        return ((List<?>) memory.run(List.of(command)))
                .stream().map(String::valueOf).toList();
    }

    /** A script begins. */
    void begins(List<String> keys, List<String> args) {
        if (!concerns(keys)) {
            return;
        }
        passes();
        Seen now = read();
        passes(now);
        Set<String> listening = channels.keySet().stream().filter(isHeard).collect(Collectors.toSet());
        for (String channel : channelsOf(keys, args)) {
            if (isHeard.test(channel)) {
                listening.add(channel);
            }
        }
        if (!listening.equals(heard)) {
            heard = listening;
            add("<<\"heard\",{%s}>>".formatted(allChannels(listening)));
        }
        last = now;
    }

    private static List<String> channelsOf(List<String> keys, List<String> args) {
        return isRenewal(keys, args)
                ? List.of()
                : calls(keys, args, it -> true).stream()
                        .map(Call::channel)
                        .filter(it -> !it.equals("-"))
                        .toList();
    }

    /** Notes what time alone has changed since the last step. */
    private void passes(Seen now) {
        if (last != null) {
            dropped(last, now, Set.of());
            Set<String> forgiven = new HashSet<>(last.suspected());
            forgiven.removeAll(now.suspected());
            if (!forgiven.isEmpty()) {
                add("<<\"forgiven\",{%s}>>".formatted(allChannels(forgiven)));
            }
        }
        if (now.token() != 0 && now.token() != overToken && now.ends() <= micros.getAsLong()) {
            overToken = now.token();
            add("<<\"ends\">>");
        }
    }

    private void dropped(Seen before, Seen now, Set<String> except) {
        Set<String> dropped = new HashSet<>(before.line());
        now.line().forEach(dropped::remove);
        dropped.removeAll(except);
        dropped.remove(now.holder());
        dropped.removeIf(it -> before.waiters().get(it).staleAt() >= micros.getAsLong());
        if (!dropped.isEmpty()) {
            add("<<\"drop\",{%s}>>".formatted(all(dropped)));
        }
    }

    private static boolean isRenewal(List<String> keys, List<String> args) {
        return args.size() != WORDS * keys.size()
                || !OPERATION.matcher(args.get(1)).matches();
    }

    private static List<Call> calls(List<String> keys, List<String> args, Predicate<String> ofLock) {
        List<Call> calls = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            if (ofLock.test(keys.get(i))) {
                calls.add(Call.of(args, WORDS * i));
            }
        }
        return calls;
    }

    /** A script ends. */
    void ends(List<String> keys, List<String> args) {
        Seen before = last;
        if (!concerns(keys) || before == null) {
            return;
        }
        Seen now = read();
        last = now;
        if (isRenewal(keys, args)) {
            if (before.isPushed() && !now.isPushed()) {
                add("<<\"confirm\",\"%s\">>".formatted(claim(now.holder())));
            }
            return;
        }
        List<Call> calls = calls(keys, args, key::equals);
        dropped(
                before,
                now,
                calls.stream()
                        .filter(it -> !it.isAttempt() || !it.isQueued())
                        .map(Call::id)
                        .collect(Collectors.toSet()));
        boolean isGrantJustMade = before.token() == now.token() && grantedAt == micros.getAsLong();
        if (calls.size() == 1 && !isGrantJustMade) {
            called(calls.get(0), before, shown(now));
            return;
        }
        Set<String> stale = calls.stream()
                .map(Call::id)
                .filter(before.waiters()::containsKey)
                .filter(it -> before.waiters().get(it).staleAt() < micros.getAsLong())
                .collect(Collectors.toSet());
        if (!stale.isEmpty()) {
            add("<<\"may drop\",{%s}>>".formatted(all(stale)));
        }
        calls.forEach(it -> called(it, before, NOT_YET)); // in one instant, a call confirms no grant
        add("<<\"seen\",\"\",\"\",%s>>".formatted(shown(now)));
    }

    private void called(Call call, Seen before, String shown) {
        if (!call.isAttempt() && call.what() != 'R' && call.what() != 'r') {
            end("an adoption");
            return;
        }
        Waiter entry = before.waiters().get(call.id());
        boolean isLate = call.isAttempt() && entry != null && call.attempt() < entry.attempt();
        String former = channelOf.getOrDefault(call.id(), "-");
        String channel = isLate ? former : call.channel();
        if (call.isAttempt() && !former.equals("-") && !former.equals(channel)) {
            end("a claim that changes its channel");
        }
        channelOf.put(call.id(), channel);
        String name = claim(call.id());
        add("<<\"%s\",\"%s\",\"%s\",%s>>"
                .formatted(
                        !call.isAttempt() ? "leave" : isLate ? "late" : call.isQueued() ? "try" : "once",
                        name,
                        channel.equals("-") ? "-" + name : channel(channel),
                        shown));
    }

    private String shown(Seen now) {
        int grant = 0;
        if (now.token() != 0 && now.ends() > micros.getAsLong()) { // a lease that is over is as good as none
            boolean isNew = !grants.containsKey(now.token());
            if (isNew && (grants.isEmpty() || now.token() > grants.lastKey())) {
                grants.put(now.token(), grants.size() + 1);
                grantedAt = micros.getAsLong();
            }
            grant = grants.getOrDefault(now.token(), NO_SUCH);
            owners.putIfAbsent(grant, now.holder());
        }
        return "%d,\"%s\",%s,<<%s>>,{%s},{%s}"
                .formatted(
                        grant,
                        grant == 0 ? "none" : claim(now.holder()),
                        now.isPushed() ? "TRUE" : "FALSE",
                        all(now.line()),
                        all(now.aside()),
                        allChannels(now.suspected()));
    }

    @Override
    public void happened(HistoryEvent event) {
        String operation = event.process() + ' ' + event.operation();
        LockKey of = event.lock() == null ? asked.get(operation) : event.lock();
        asked.putIfAbsent(operation, of);
        if (of == null || of.kind() != LockKind.MUTEX || !key.contains("{" + of.name() + "}") || !ended.isEmpty()) {
            return;
        }
        passes();
        switch (event.what()) {
            case ACQUIRED -> believes(operation, event);
            case VALID ->
                beliefs.computeIfPresent(operation, (id, it) -> new Belief(it.process(), it.grant(), event.value()));
            case INVALID -> wasOver(operation);
            case RELEASE_ASKED, LOST -> over(operation);
            default -> {}
        }
    }

    private void believes(String operation, HistoryEvent event) {
        Seen now = read();
        passes(now);
        last = now;
        int grant = grants.getOrDefault(event.token(), NO_SUCH);
        beliefs.put(operation, new Belief(event.process(), grant, event.value()));
        add("<<\"begin\",%d>>".formatted(grant));
    }

    /** Ends the beliefs whose validity is over. */
    private void passes() {
        List.copyOf(beliefs.keySet()).stream()
                .filter(it -> beliefs.get(it).until() <= world.now())
                .forEach(this::over);
    }

    private void over(String operation) {
        Belief belief = beliefs.remove(operation);
        if (belief != null) {
            add("<<\"over\",%d>>".formatted(belief.grant()));
        }
    }

    /** A user who cancels while it handles the lease gives it back, and sees only later that the lease is invalid. */
    private void wasOver(String operation) {
        Belief belief = beliefs.remove(operation);
        if (belief == null) {
            return;
        }
        String release = "<<\"leave\",\"" + claims.get(owners.getOrDefault(belief.grant(), "")) + '"';
        int at = Math.max(0, steps.lastIndexOf("<<\"begin\",%d>>".formatted(belief.grant())));
        while (at < steps.size() && !steps.get(at).startsWith(release)) {
            at++;
        }
        steps.add(at, "<<\"over\",%d>>".formatted(belief.grant()));
    }

    @Override
    public void closes(int client) {
        String process = "c" + (client + 1);
        List.copyOf(beliefs.keySet()).stream()
                .filter(it -> beliefs.get(it).process().equals(process))
                .forEach(this::over);
    }
}
