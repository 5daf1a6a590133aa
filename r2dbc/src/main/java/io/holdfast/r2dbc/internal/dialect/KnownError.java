package io.holdfast.r2dbc.internal.dialect;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The meaning of an error.
 *
 * @param isTransient whether the same request may succeed later, without a change of settings
 * @param keepsConnection whether the connection can be used again
 * @param advice what to do
 */
public record KnownError(boolean isTransient, boolean keepsConnection, String advice) {

    /**
     * Reads a table with a line for each meaning: codes, {@code passes} or {@code stays}, {@code keeps} or {@code ends} the connection, and
     * the advice, with bars in between.
     *
     * @return the meaning of each code, in the order of the table
     */
    public static Map<String, KnownError> table(String lines) {
        Map<String, KnownError> meanings = new LinkedHashMap<>();
        lines.lines().map(line -> line.split(" *\\| *", 4)).forEach(cells -> {
            KnownError known = new KnownError(cells[1].equals("passes"), cells[2].equals("keeps"), cells[3]);
            for (String code : cells[0].split(" ", -1)) {
                meanings.put(code, known);
            }
        });
        return meanings;
    }
}
