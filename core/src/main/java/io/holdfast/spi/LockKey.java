package io.holdfast.spi;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockKind;
import io.holdfast.spi.support.Printable;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * The kind and the name of a lock. Back ends compare names as they are: they must not normalise, trim or fold them.
 *
 * <p>This is not the key of a lock's data: two claims of one lock may differ in the side, and in {@code permits}. Use
 * the name and {@link io.holdfast.LockReport.Type#of}.
 *
 * @param kind the kind
 * @param name 1 to {@value #MAX_NAME_BYTES} bytes in UTF-8, any characters, not blank; not normalised: two spellings of one text in
 *     Unicode are two locks
 * @param permits how many permits claims may take at once, as this claim states it; 1 unless a semaphore
 */
public record LockKey(LockKind kind, String name, int permits) {

    /** The longest lock name, in bytes of its UTF-8 form. */
    public static final int MAX_NAME_BYTES = 512;

    /** How much of a refused name the message shows. */
    private static final int SHOWN_CHARS = 40;

    /**
     * Checks the name and the permits.
     *
     * @param kind the kind
     * @param name the lock name
     * @param permits 1 unless a semaphore
     * @throws IllegalArgumentException if the name is blank, too long or not encodable as UTF-8, or the permits do not fit
     *     the kind
     */
    public LockKey {
        requireNonNull(kind, "kind");
        requireNonNull(name, "lock name");
        checkName(name);
        if (permits < 1) {
            throw new IllegalArgumentException(
                    "permits of semaphore '%s' must be at least 1, was %d".formatted(Printable.text(name), permits));
        }
        if (permits != 1 && kind != LockKind.SEMAPHORE) {
            throw new IllegalArgumentException(
                    "permits are for a semaphore; a %s lock has exactly 1, was %d".formatted(kind, permits));
        }
    }

    /**
     * {@return a key with one permit}
     *
     * @param kind the kind
     * @param name the lock name
     */
    public static LockKey of(LockKind kind, String name) {
        return new LockKey(kind, name, 1);
    }

    private static boolean hasSurrogates(String name) {
        for (int i = 0; i < name.length(); i++) {
            if (Character.isSurrogate(name.charAt(i))) {
                return true;
            }
        }
        return false;
    }

    private static void checkName(String name) {
        // Before all else, because the other checks read the whole name. Each char needs at least one byte.
        if (name.length() > MAX_NAME_BYTES) {
            throw new IllegalArgumentException(
                    "lock name must be at most %d bytes in UTF-8, but has %d characters: '%s'"
                            .formatted(MAX_NAME_BYTES, name.length(), Printable.start(name, SHOWN_CHARS)));
        }
        if (name.isBlank()) {
            throw new IllegalArgumentException(
                    "lock name must not be blank, was '%s'".formatted(Printable.start(name, SHOWN_CHARS)));
        }
        // UTF-8 needs at most three bytes per char (a surrogate pair needs four for two), so short names need no
        // encoding.
        if (name.length() * 3 <= MAX_NAME_BYTES && !hasSurrogates(name)) {
            return;
        }
        int bytes;
        try {
            bytes = StandardCharsets.UTF_8
                    .newEncoder()
                    .encode(CharBuffer.wrap(name))
                    .remaining();
        } catch (CharacterCodingException unpairedSurrogate) {
            // Two such names would become one on the server: the encoder of most drivers writes '?' for both.
            throw new IllegalArgumentException(
                    "lock name must be encodable as UTF-8, but has an unpaired surrogate", unpairedSurrogate);
        }
        if (bytes > MAX_NAME_BYTES) {
            throw new IllegalArgumentException("lock name must be at most %d bytes in UTF-8, was %d: '%s'"
                    .formatted(MAX_NAME_BYTES, bytes, Printable.start(name, SHOWN_CHARS)));
        }
    }
}
