package io.holdfast.redis.internal.protocol;

import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.script.ScriptArgs;
import io.holdfast.spi.LockKey;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The names of one lock's keys. The first is the prefix, the name in braces, and the type of the lock; the others add a
 * suffix to it. The name is the hash tag, so all keys of a lock are in one slot of a cluster. Percent signs and braces
 * in it are percent-encoded, so that no name can choose another tag or another lock's keys.
 *
 * @param holder the key of the holder or holders, from which all others are made
 * @param type the type of the lock: a mutex and a semaphore of one name are different locks
 */
public record LockKeys(String holder, LockReport.Type type) {

    /** What the names of the other keys have behind that of the first one: see {@code usual.lua}. */
    private static final List<String> SUFFIXES = List.of(":queue", ":claims", ":held", ":gone", ":interest", ":aside");

    public static LockKeys of(String prefix, LockKey key) {
        LockReport.Type type = LockReport.Type.of(key.kind());
        return new LockKeys(prefix + '{' + encode(key.name()) + suffix(type), type);
    }

    private static String suffix(LockReport.Type type) {
        return switch (type) {
            case MUTEX -> "}:mutex";
            case READ_WRITE -> "}:rw";
            case SEMAPHORE -> "}:semaphore";
        };
    }

    /** Reads the holder's key; null if it is not one. */
    static @Nullable LockKeys parse(String holder) {
        int tag = holder.indexOf('{');
        for (LockReport.Type type : LockReport.Type.values()) {
            if (tag >= 0
                    && holder.endsWith(suffix(type))
                    && tag + 1 < holder.length() - suffix(type).length()) {
                return new LockKeys(holder, type);
            }
        }
        return null;
    }

    /** Reads a holder's key with exactly this prefix and the name of a lock; null if it is not one. */
    public static @Nullable LockKeys parse(String prefix, String holder) {
        LockKeys keys = holder.startsWith(prefix + '{') ? parse(holder) : null;
        boolean isOurs = keys != null && holder.equals(prefix + '{' + encode(keys.lockName()) + suffix(keys.type));
        return isOurs ? keys : null;
    }

    /** Returns all keys of the lock, in the order of the inspector's KEYS. */
    public List<String> inspected() {
        return Stream.concat(Stream.of(""), SUFFIXES.stream())
                .map(holder::concat)
                .toList();
    }

    /** Appends the number of keys, and the key from which a script makes the others. */
    void writeRecord(ScriptArgs to) {
        to.text("1").text(holder);
    }

    /** Appends the number of keys, and the keys. */
    void writeAll(ScriptArgs to) {
        byte[] head = holder.getBytes(StandardCharsets.UTF_8);
        to.number(1L + SUFFIXES.size()).key(head, "");
        SUFFIXES.forEach(suffix -> to.key(head, suffix));
    }

    /** Appends the key of the record twice: then {@code lock.lua} uses no other key. */
    void writeRecordAlone(ScriptArgs to) {
        to.number(2).text(holder).text(holder);
    }

    /** {@return whether a claim with this key holds its lock alone: then the record has all about its hold} */
    static boolean isExclusive(LockKey key) {
        return key.kind() == LockKind.MUTEX || key.kind() == LockKind.WRITE;
    }

    /** Appends the keys that the renewal of a claim needs: the record of an exclusive one, two of another. */
    void writeRenewed(ScriptArgs to, LockKey claimed) {
        if (isExclusive(claimed)) {
            to.text(holder);
        } else {
            to.text(holder + ":claims").text(holder + ":held");
        }
    }

    /** Returns the lock's name, for messages. */
    public String lockName() {
        String encoded = holder.substring(
                holder.indexOf('{') + 1, holder.length() - suffix(type).length());
        return encoded.replace("%7B", "{").replace("%7D", "}").replace("%25", "%");
    }

    /** Returns what a message says of a failure that concerns this lock. */
    ExceptionTranslator.Subject subject(String verb) {
        String name = lockName();
        return new ExceptionTranslator.Subject(name, "%s lock '%s' (key '%s')".formatted(verb, name, holder));
    }

    private static String encode(String name) {
        boolean isPlain = name.indexOf('{') < 0 && name.indexOf('}') < 0 && name.indexOf('%') < 0;
        return isPlain ? name : name.replace("%", "%25").replace("{", "%7B").replace("}", "%7D");
    }
}
