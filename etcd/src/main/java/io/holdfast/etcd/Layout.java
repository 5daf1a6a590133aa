package io.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.spi.LockKey;
import java.io.ByteArrayOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * The keys. Each claim has a place in the line of its lock. A writer also has a mark, so that readers find the last writer before them by
 * one key. The keys of places and marks are {@link Slots}.
 *
 * <pre>
 * [prefix]line/mutex|rw|semaphore/[name]/[node].[slot]   a place
 * [prefix]mark/rw/[name]/[node].[slot]                   a writer
 * [prefix]gone/[claim id]                                a tombstone
 * [prefix]lost/[node]/[claim id]                         a notice to the client of a broken hold
 * </pre>
 *
 * @param prefix ends with a slash
 * @param node this client
 */
record Layout(String prefix, String node) {

    /** A lock, as an operator sees it. */
    record Lock(LockReport.Type type, String name) {}

    private static final String LINE = "line/";
    private static final String MARK = "mark/";
    private static final String PLAIN = "-._~:@";

    static ByteSequence bytes(String text) {
        return ByteSequence.from(text, UTF_8);
    }

    ByteSequence lines() {
        return bytes(prefix + LINE);
    }

    ByteSequence line(LockKey key) {
        return bytes(prefix + LINE + path(key));
    }

    ByteSequence marks(LockKey key) {
        return bytes(prefix + MARK + path(key));
    }

    ByteSequence mark(ByteSequence place) {
        return bytes(prefix + MARK + place.toString(UTF_8).substring(prefix.length() + LINE.length()));
    }

    ByteSequence gone(String id) {
        return bytes(prefix + "gone/" + id);
    }

    ByteSequence notices() {
        return bytes(prefix + "lost/" + node + '/');
    }

    ByteSequence notice(String to, String id) {
        return bytes(prefix + "lost/" + to + '/' + id);
    }

    /** Reads a place, with the name of its lock. */
    Place place(KeyValue stored) {
        String path = stored.getKey().toString(UTF_8).substring(prefix.length() + LINE.length());
        int name = path.indexOf('/') + 1;
        return Place.of(decode(path.substring(name, path.indexOf('/', name))), stored);
    }

    /** The lock whose place this is, however its value reads; null if the key is in no line. */
    @Nullable
    Lock lock(ByteSequence place) {
        String[] path =
                place.toString(UTF_8).substring(prefix.length() + LINE.length()).split("/", -1);
        for (LockKind kind : LockKind.values()) {
            if (path.length == 3 && path[0].equals(group(kind)) && path[1].matches("(?:[^%]++|%[0-9A-F]{2})++")) {
                return new Lock(LockReport.Type.of(kind), decode(path[1]));
            }
        }
        return null;
    }

    /** Finds a place by its token, whichever client has written it. */
    Op withToken(LockKey key, long token) {
        return Op.get(
                line(key),
                GetOption.builder()
                        .isPrefix(true)
                        .withMinCreateRevision(token)
                        .withMaxCreateRevision(token)
                        .build());
    }

    /** Reads the place of a claim from an answer; null if it is not there. A former or later claim may have its key. */
    @Nullable
    Place placeOf(String id, GetResponse answer) {
        for (KeyValue it : answer.getKvs()) {
            Place place = place(it);
            if (place.id().equals(id)) {
                return place;
            }
        }
        return null;
    }

    String idOfNotice(ByteSequence key) {
        return key.toString(UTF_8).substring(notices().size());
    }

    private static String path(LockKey key) {
        return group(key.kind()) + '/' + encode(key.name()) + '/';
    }

    private static String group(LockKind kind) {
        return switch (kind) {
            case MUTEX -> "mutex";
            case READ, WRITE -> "rw";
            case SEMAPHORE -> "semaphore";
        };
    }

    static String encode(String name) {
        StringBuilder text = new StringBuilder(name.length());
        for (byte it : name.getBytes(UTF_8)) {
            char c = (char) (it & 0xff);
            boolean isPlain = c < 128 && (Character.isLetterOrDigit(c) || PLAIN.indexOf(c) >= 0);
            text.append(isPlain ? Character.toString(c) : "%%%02X".formatted((int) c));
        }
        return text.toString();
    }

    static String decode(String text) {
        ByteArrayOutputStream name = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == '%') {
                name.write(Integer.parseInt(text.substring(i + 1, i + 3), 16));
                i += 2;
            } else {
                name.write(text.charAt(i));
            }
        }
        return name.toString(UTF_8);
    }
}
