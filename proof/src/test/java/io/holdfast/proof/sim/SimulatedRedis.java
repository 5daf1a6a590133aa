package io.holdfast.proof.sim;

import io.holdfast.proof.sim.RedisMemory.RedisError;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** One Redis: it runs the scripts that clients send, remembers them, and publishes. */
public class SimulatedRedis extends Server {

    /** Of this thread: compiled once for all schedules. */
    private static final ThreadLocal<RedisScripts> SCRIPTS = ThreadLocal.withInitial(RedisScripts::new);

    private static final ThreadLocal<Map<String, String>> SHAS = ThreadLocal.withInitial(HashMap::new);

    private final RedisScripts scripts = SCRIPTS.get();
    private final UnaryOperator<String> mutation;
    private Ghosts ghosts;
    private final Map<String, String> known = new HashMap<>();
    private final Map<String, String> mutated = new HashMap<>();
    private final Map<String, Map<Wire, Consumer<String>>> channels = new HashMap<>();

    /** Null where there is none. */
    private ChannelTenant tenant;

    /** Brings back what was saved last, or nothing. */
    private Runnable saved;

    private String refusal = "";
    private long refusesUntil;

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
     * A server that has been up for an hour.
     *
     * @param mutation what becomes of each script on its way into the server; the identity for the scripts as they are shipped
     */
    public SimulatedRedis(World world, String name, double rate, long aheadMicros, UnaryOperator<String> mutation) {
        super(world, name, rate, aheadMicros);
        this.mutation = mutation;
        ghosts = new Ghosts(world, this::micros);
        saved = memory::flush;
    }

    /** From now on, one with rights to the channels only takes part. */
    void admit(ChannelTenant stranger) {
        tenant = stranger;
    }

    /** Its data is on the disk now. After a crash that would lose all, it comes back with this. */
    void save() {
        world.trace("%s saves its data", this);
        saved = memory.snapshot();
    }

    /** It answers each script with that error for a while, as one that is demoted, has a full disk, or has no memory left. */
    void refuse(String error, long nanos) {
        world.trace("%s answers for %.3f ms: %s", this, nanos / 1e6, error);
        refusal = error;
        refusesUntil = world.now() + nanos;
    }

    /** It takes all scripts again. */
    void refuseNoMore() {
        refusesUntil = 0;
    }

    RedisMemory memory() {
        return memory;
    }

    /** What is released at one of both is not to hold at the other one either. */
    void sharesReleasesWith(SimulatedRedis other) {
        ghosts = other.ghosts;
    }

    /** What was released here before may hold again. */
    void forgetReleases() {
        ghosts.forget();
    }

    boolean isHeard(String channel) {
        return channels.containsKey(channel);
    }

    /** Tells other servers what is published here. */
    void passOn(String channel, String message) {
        // There are none.
    }

    /** Gives how many were told; throws what the server answers where there is no such command. */
    int spublish(String channel, String message) {
        throw new RedisError("ERR Unknown Redis command called from script");
    }

    /**
     * A script from a client.
     *
     * @param isSha whether it is named by its hash
     * @return as {@link #evalSha}
     */
    public Object call(Wire from, boolean isSha, String script, List<String> keys, List<String> args) {
        return isSha ? evalSha(script, keys, args) : eval(script, keys, args);
    }

    void deliver(String channel, String message) {
        channels.getOrDefault(channel, Map.of())
                .forEach((wire, receiver) -> wire.toClient(() -> receiver.accept(message)));
    }

    /** An answer that is an error. */
    public record Refusal(String message) {}

    /** Runs a script that it knows; gives a number, a list of numbers, or a {@link Refusal}. */
    public Object evalSha(String sha, List<String> keys, List<String> args) {
        String body = known.get(sha);
        if (body == null) {
            return new Refusal("NOSCRIPT No matching script. Please use EVAL.");
        }
        return run(body, keys, args);
    }

    /** Runs a script, and remembers it; gives what {@link #evalSha} does. */
    public Object eval(String body, List<String> keys, List<String> args) {
        known.put(SHAS.get().computeIfAbsent(body, SimulatedRedis::sha1), body);
        return run(body, keys, args);
    }

    private Object run(String body, List<String> keys, List<String> args) {
        if (world.now() < refusesUntil) {
            world.trace("    %s: %s %s -> %s", name(), keys.get(0), args, refusal);
            return new Refusal(refusal);
        }
        try {
            Object reply = scripts.run(memory, mutated.computeIfAbsent(body, mutation), keys, args);
            ghosts.answered(body, args, reply);
            if (world.isTraced()) {
                world.trace("    %s: %s %s -> %s", name(), keys.get(0), args, reply);
            }
            return reply;
        } catch (RedisError error) {
            world.trace("    %s: %s %s -> %s", name(), keys.get(0), args, error.getMessage());
            return new Refusal(error.getMessage());
        }
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
    }

    @Override
    protected void forget(boolean dataToo) {
        channels.clear();
        known.clear();
        if (dataToo) {
            saved.run();
            ghosts.forget();
        }
    }

    /** Keys that should not be there when no claim holds or waits: all but counters, free mutexes, and the traces of withdrawals. */
    public List<String> leftovers() {
        return memory.keys().stream()
                .filter(key -> !key.endsWith(":token") && !key.contains(":gone") && !isFreeMutex(key))
                .toList();
    }

    private boolean isFreeMutex(String key) {
        if (!key.endsWith(":mutex")) {
            return false;
        }
        String record = String.valueOf(memory.run(List.of("GET", key)));
        return record.startsWith("F") || Long.parseLong(record.substring(2, 18)) <= micros();
    }

    /** All keys. */
    public Set<String> keys() {
        return Set.copyOf(memory.keys());
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
