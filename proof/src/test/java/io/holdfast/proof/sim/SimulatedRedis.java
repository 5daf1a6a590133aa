package io.holdfast.proof.sim;

import io.holdfast.proof.sim.RedisMemory.RedisError;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One Redis: it runs the scripts that clients send, remembers them, and publishes. */
public class SimulatedRedis extends Server {

    /** The scripts of this thread, compiled once for all schedules. */
    private static final ThreadLocal<RedisScripts> SCRIPTS = ThreadLocal.withInitial(RedisScripts::new);

    private static final ThreadLocal<Map<String, String>> SHAS = ThreadLocal.withInitial(HashMap::new);

    private static final int ARGS_OF_A_MUTEX = 4;

    private final RedisScripts scripts = SCRIPTS.get();
    private final UnaryOperator<String> mutation;
    private Ghosts ghosts;
    private final Map<String, String> known = new HashMap<>();
    private final Map<String, String> mutated = new HashMap<>();
    private final Map<String, Map<Wire, Consumer<String>>> channels = new HashMap<>();

    /** Null where there is none. */
    private ChannelTenant tenant;

    private @Nullable QueueTrace trace;

    /** Restores the last saved data, or none. */
    private Runnable saved;

    private String refusal = "";
    private long refusesUntil;

    /** The link to its replica; null without one. */
    private @Nullable Replication toReplica;

    /** The link from its master; null for a master. */
    private @Nullable Replication fromMaster;

    /** The writes of the current script, for the replica. */
    private final List<Consumer<SimulatedRedis>> effects = new ArrayList<>();

    /** The clients that wait until a replica has their writes. */
    private final List<Consumer<Object>> confirming = new ArrayList<>();

    private final KeyWatches watches = new KeyWatches();
    private boolean isReplica;
    private long operations;
    private long bodies;

    /** All that came from its masters, one command after the other. */
    private final StringBuilder copied = new StringBuilder();

    private final RedisMemory memory = new RedisMemory(this::micros, new RedisMemory.Channels() {
        @Override
        public int receivers(String channel) {
            return channels.getOrDefault(channel, Map.of()).size();
        }

        @Override
        public int publish(String channel, String message) {
            Map<Wire, Consumer<String>> receivers = channels.getOrDefault(channel, Map.of());
            world.trace("    published to %s of %s: %s", receivers.size(), channel, message);
            deliver(channel, message);
            effect(replica -> replica.deliver(channel, message));
            if (tenant != null) {
                tenant.read(channel, message);
            }
            passOn(channel, message);
            return receivers.size();
        }

        @Override
        public int publishSharded(String channel, String message) {
            return spublish(channel, message);
        }
    });

    /**
     * Makes a server that has been up for an hour.
     *
     * @param mutation changes each script on its way into the server; the identity for the real scripts
     */
    public SimulatedRedis(World world, String name, double rate, long aheadMicros, UnaryOperator<String> mutation) {
        super(world, name, rate, aheadMicros);
        this.mutation = mutation;
        ghosts = new Ghosts(world, this::micros);
        saved = memory::flush;
        memory.written(command -> {
            watches.changed(command.get(1));
            effect(replica -> replica.apply(command));
        });
    }

    private void effect(Consumer<SimulatedRedis> done) {
        if (toReplica != null) {
            effects.add(done);
        }
    }

    /** Sends all writes of the current script to the replica as one message. */
    private void replicate() {
        Replication replication = toReplica;
        if (replication != null && !effects.isEmpty()) {
            List<Consumer<SimulatedRedis>> all = List.copyOf(effects);
            SimulatedRedis replica = replication.replica();
            replication.send(() -> all.forEach(one -> one.accept(replica)));
        }
        effects.clear();
    }

    /** Replicates all later writes to that server, after a copy of the data, unless that server has the same data. */
    void streams(Replication replication, boolean hasTheSame) {
        toReplica = replication;
        if (!hasTheSame) {
            Consumer<RedisMemory> contents = memory.contents();
            SimulatedRedis replica = replication.replica();
            replication.send(() -> replica.load(contents));
        }
    }

    private void apply(List<String> command) {
        copied.append(command);
        memory.apply(command);
    }

    /** Returns whether a master has sent it the record of a mutex that this claim holds. */
    boolean hasHeardOf(String claim) {
        return copied.indexOf('\n' + claim) >= 0;
    }

    private void load(Consumer<RedisMemory> contents) {
        world.trace("%s has its data replaced by that of its master", this);
        contents.accept(memory);
        copied.append(memory.texts());
        ghosts.forget();
        watches.flushed();
    }

    /** Demotes the server: it takes no writes any more, and its connections stay open. It has no master to follow yet. */
    void demote() {
        if (isReplica) {
            return;
        }
        world.trace("%s is a replica from now on", this);
        endReplication();
        isReplica = true;
        memory.isReplica(true);
        List<Consumer<Object>> interrupted = List.copyOf(confirming);
        confirming.clear();
        interrupted.forEach(it -> it.accept(new Refusal(
                "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)")));
    }

    /** {@code REPLICAOF host port}: the data and the writes of the master replace its own data. */
    void follow(Replication replication) {
        demote();
        endReplication();
        fromMaster = replication;
    }

    /** {@code REPLICAOF NO ONE}. */
    void lead() {
        world.trace("%s is a master from now on", this);
        endReplication();
        isReplica = false;
        memory.isReplica(false);
    }

    private void endReplication() {
        if (toReplica != null) {
            toReplica.end();
            toReplica = null;
        }
        if (fromMaster != null) {
            fromMaster.end();
            fromMaster = null;
        }
        effects.clear();
    }

    boolean isReplica() {
        return isReplica;
    }

    /** {@code WAIT} for one replica, on a connection that has written right before. */
    public void confirm(long millis, Consumer<Object> answer) {
        if (isReplica) {
            answer.accept(new Refusal("ERR WAIT cannot be used with replica instances."));
            return;
        }
        confirming.add(answer);
        if (toReplica != null) {
            toReplica.whenApplied(() -> confirmed(answer, 1));
        }
        world.after(World.ms(millis), () -> confirmed(answer, 0));
    }

    private void confirmed(Consumer<Object> answer, long replicas) {
        if (confirming.remove(answer)) {
            answer.accept(replicas);
        }
    }

    /** {@code CLIENT TRACKING ON OPTIN NOLOOP}: the listener gets the changed keys, or null for all keys. */
    public void watchKeys(Wire wire, Consumer<@Nullable String> told) {
        watches.admit(wire, told);
    }

    /** {@code CLIENT CACHING YES}: the keys that the next script of that connection reads are watched. */
    public void watchNextKeys(Wire wire) {
        watches.next(wire);
    }

    /** Adds a user with rights to the channels only. */
    void admit(ChannelTenant stranger) {
        tenant = stranger;
    }

    /** Writes the steps of a mutex to this trace. */
    void writesTo(QueueTrace to) {
        trace = to;
        to.reads(
                memory,
                this::micros,
                channel -> !channels.getOrDefault(channel, Map.of()).isEmpty());
    }

    /** Saves its data to the disk. After a crash that would lose all data, the server comes back with this data. */
    void save() {
        world.trace("%s saves its data", this);
        saved = memory.snapshot();
    }

    /** Answers each script with that error for a while, like a demoted server, or one with a full disk or no memory left. */
    void refuse(String error, long nanos) {
        world.trace("%s answers for %.3f ms: %s", this, nanos / 1e6, error);
        refusal = error;
        refusesUntil = world.now() + nanos;
    }

    /** Accepts all scripts again. */
    void refuseNoMore() {
        refusesUntil = 0;
    }

    RedisMemory memory() {
        return memory;
    }

    /** Shares the check for ghosts: a claim that is released at one server must not hold at the other. */
    void sharesReleasesWith(SimulatedRedis other) {
        ghosts = other.ghosts;
    }

    /** Forgets earlier releases: those claims may hold again. */
    void forgetReleases() {
        ghosts.forget();
    }

    boolean isHeard(String channel) {
        return channels.containsKey(channel);
    }

    /** Forwards messages that are published here to other servers. */
    void passOn(String channel, String message) {
        // There are none.
    }

    /** Returns the number of receivers. Throws the answer of a server without this command. */
    int spublish(String channel, String message) {
        throw new RedisError("ERR Unknown Redis command called from script");
    }

    /**
     * Runs a script of a client.
     *
     * @param isSha whether the client sends its hash
     * @return as {@link #evalSha}
     */
    public Object call(Wire from, boolean isSha, String script, List<String> keys, List<String> args) {
        return isSha ? evalSha(from, script, keys, args) : eval(from, script, keys, args);
    }

    void deliver(String channel, String message) {
        channels.getOrDefault(channel, Map.of())
                .forEach((wire, receiver) -> wire.toClient(() -> receiver.accept(message)));
    }

    /** An error answer. */
    public record Refusal(String message) {}

    /** Runs a known script. Returns a number, a list of numbers, or a {@link Refusal}. */
    public Object evalSha(Wire wire, String sha, List<String> keys, List<String> args) {
        String body = known.get(sha);
        if (body == null) {
            return new Refusal("NOSCRIPT No matching script. Please use EVAL.");
        }
        return run(wire, body, keys, args);
    }

    /** Remembers a script. Returns its hash. */
    public String load(String body) {
        bodies++;
        String sha = SHAS.get().computeIfAbsent(body, SimulatedRedis::sha1);
        known.put(sha, body);
        return sha;
    }

    /** Runs a script, and remembers it. Returns the same as {@link #evalSha}. */
    public Object eval(Wire wire, String body, List<String> keys, List<String> args) {
        String unused = load(body);
        return run(wire, body, keys, args);
    }

    private Object run(Wire wire, String body, List<String> keys, List<String> args) {
        operations += Math.max(1, args.size() / ARGS_OF_A_MUTEX);
        Object reply = watches.of(wire, keys, () -> run(body, keys, args));
        replicate();
        return reply;
    }

    private Object run(String body, List<String> keys, List<String> args) {
        if (world.now() < refusesUntil) {
            world.trace("    %s: %s %s -> %s", name(), keys.get(0), args, refusal);
            return new Refusal(refusal);
        }
        QueueTrace to = trace;
        try {
            if (to != null) {
                to.begins(keys, args);
            }
            Object reply = scripts.run(memory, mutated.computeIfAbsent(body, mutation), keys, args);
            if (to != null) {
                to.ends(keys, args);
            }
            ghosts.answered(body, args, reply);
            if (world.isTraced()) {
                world.trace("    %s: %s %s -> %s", name(), keys.get(0), args, reply);
            }
            return reply;
        } catch (RedisError error) {
            if (to != null) {
                to.end("a script that failed");
            }
            world.trace("    %s: %s %s -> %s", name(), keys.get(0), args, error.getMessage());
            return new Refusal(error.getMessage());
        }
    }

    /** Publishes a message, as a user with rights to the channels only may do. */
    void deliverToAll(String message) {
        List.copyOf(channels.keySet()).forEach(channel -> deliver(channel, message));
    }

    /** Returns the claims in the queue of a mutex. */
    List<String> waiters(String lock) {
        List<String> ids = new ArrayList<>();
        for (Object id : (List<?>) memory.run(List.of("ZRANGE", "holdfast:{" + lock + "}:mutex:queue", "0", "-1"))) {
            ids.add((String) id);
        }
        return ids;
    }

    /** Returns the number of operations; one call may have many operations of mutexes. */
    long operations() {
        return operations;
    }

    /** Returns the number of calls with the whole script. */
    long bodies() {
        return bodies;
    }

    public void flushScripts() {
        known.clear();
    }

    public void subscribe(String channel, Wire wire, Consumer<String> receiver) {
        channels.computeIfAbsent(channel, it -> new LinkedHashMap<>()).put(wire, receiver);
    }

    @Override
    protected void lost(Wire wire) {
        channels.values().forEach(receivers -> receivers.remove(wire));
        channels.values().removeIf(Map::isEmpty);
        watches.lost(wire);
    }

    @Override
    protected void forget(boolean dataToo) {
        channels.clear();
        known.clear();
        watches.forget();
        confirming.clear();
        effects.clear();
        if (toReplica != null) {
            toReplica.isBroken();
        }
        if (fromMaster != null) {
            fromMaster.isBroken();
        }
        if (dataToo) {
            saved.run();
            forgetsReleases();
            if (trace != null) {
                trace.end("a loss of data");
            }
        }
    }

    /** Its tombstones are gone, so claims that it has released may be granted here. */
    void forgetsReleases() {
        ghosts.forget();
    }

    /** Returns the keys that must not exist when no claim holds or waits: all but free mutexes, records of other kinds, which have the last token alone, and the traces of withdrawals. */
    public List<String> leftovers() {
        return memory.keys().stream()
                .filter(key -> !key.endsWith(":rw") && !key.endsWith(":semaphore"))
                .filter(key -> !key.contains(":gone") && !isFreeMutex(key) && !isTrace(key))
                .toList();
    }

    /** Of runs that are over, and of clients that confirmed no grant. */
    private boolean isTrace(String key) {
        if (key.endsWith(":aside")) {
            return texts("ZRANGE", key, "0", "-1").stream().allMatch(it -> it.endsWith(" 0"));
        }
        List<String> fields =
                key.endsWith(":claims") ? texts("HRANDFIELD", key, "1000", "WITHVALUES") : List.of("a claim");
        return IntStream.range(0, fields.size())
                .filter(i -> i % 2 == 0)
                .allMatch(i -> "!*+".indexOf(fields.get(i).charAt(0)) >= 0);
    }

    private List<String> texts(String... command) {
        return ((List<?>) memory.run(List.of(command)))
                .stream().map(String::valueOf).toList();
    }

    private boolean isFreeMutex(String key) {
        if (!key.endsWith(":mutex")) {
            return false;
        }
        String record = String.valueOf(memory.run(List.of("GET", key)));
        return record.startsWith("1F") || Long.parseLong(record.substring(3, 19)) <= micros();
    }

    /** All keys. */
    public Set<String> keys() {
        return Set.copyOf(memory.keys());
    }

    /** Signs a grant like our scripts. */
    public static String signature(String secret, String channel, String text) {
        return sha1(secret + sha1(secret + channel + ' ' + text));
    }

    static String sha1(String body) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-1").digest(body.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
