package io.holdfast.site;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** A text on the class path. */
final class Resource {

    private Resource() {}

    static String read(Class<?> beside, String name) throws IOException {
        try (InputStream in = beside.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("no resource " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
