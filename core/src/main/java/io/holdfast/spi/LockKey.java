package io.holdfast.spi;

import static java.util.Objects.requireNonNull;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * Which lock: its kind and name. Names are compared as they are: a back end must not normalise, trim or fold them.
 *
 * @param kind the kind
 * @param name 1 to {@value #MAX_NAME_BYTES} bytes in UTF-8, any characters, not blank; not normalised: two spellings of one text in
 *     Unicode are two locks
 * @param permits how many permits may be taken at once, by this claim's own judgement; 1 unless a semaphore
 */
public record LockKey(LockKind kind, String name, int permits) {

    /** The longest lock name, in bytes of its UTF-8 form. */
    public static final int MAX_NAME_BYTES = 512;

    /** How much of a name that is refused stands in the message. */
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
     * A key of a kind that has no permits to choose.
     *
     * @param kind the kind
     * @param name the lock name
     * @return a key with one permit
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
        // First of all: what follows reads the whole name. Each char needs a byte at least.
        if (name.length() > MAX_NAME_BYTES) {
            throw new IllegalArgumentException(
                    "lock name must be at most %d bytes in UTF-8, but has %d characters: '%s'"
                            .formatted(MAX_NAME_BYTES, name.length(), Printable.start(name, SHOWN_CHARS)));
        }
        if (name.isBlank()) {
            throw new IllegalArgumentException(
                    "lock name must not be blank, was '%s'".formatted(Printable.start(name, SHOWN_CHARS)));
        }
        // Three bytes per char is the most UTF-8 needs (a surrogate pair needs four for two): no need to encode short
        // names.
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
            // Two such names would become one in the store: the encoder of most drivers writes '?' for both.
            throw new IllegalArgumentException(
                    "lock name must be encodable as UTF-8, but has an unpaired surrogate", unpairedSurrogate);
        }
        if (bytes > MAX_NAME_BYTES) {
            throw new IllegalArgumentException("lock name must be at most %d bytes in UTF-8, was %d: '%s'"
                    .formatted(MAX_NAME_BYTES, bytes, Printable.start(name, SHOWN_CHARS)));
        }
    }
}
