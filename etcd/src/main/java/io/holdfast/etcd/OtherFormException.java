package io.holdfast.etcd;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.KeyValue;
import io.holdfast.spi.support.Printable;

/** A key of a lock has a value that this version does not read: of a newer version of this library, or of another program. */
final class OtherFormException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private static final String NEWER =
            "a newer version of this library has written the lock: upgrade this client; see docs/reference/versioning.md";
    private static final String FOREIGN =
            "a key of this lock holds a foreign value, which is left untouched: choose another prefix or name";

    private final String key;

    OtherFormException(KeyValue stored) {
        super(stored.getValue().toString(UTF_8).matches("(?s)[2-9].*") ? NEWER : FOREIGN, null, false, false);
        key = stored.getKey().toString(UTF_8);
    }

    String advice() {
        return "The key is " + Printable.text(key);
    }
}
