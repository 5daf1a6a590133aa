package io.holdfast.redis.internal.address;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringTokenizer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Checks the parameters of an address. The driver ignores unknown parameters and unreadable values, and reads {@code
 * 2sec} as 2 ms. So a mistyped time limit would silently become another one.
 */
public final class AddressQuery {

    /**
     * The form of a value.
     *
     * @param words the same for a person
     */
    private record Form(Pattern pattern, String words) {

        static Form of(String regex, String words) {
            return new Form(Pattern.compile(regex, Pattern.CASE_INSENSITIVE | Pattern.DOTALL), words);
        }
    }

    private static final String NOT_SHOWN = " is not repeated here, since it may hold a password";

    private static final Form TEXT = Form.of(".+", "must not be empty");
    private static final Form NUMBER = Form.of("[0-9]+", "must be a number");

    /** In the order of the driver's documentation. */
    private static final Map<String, Form> FORMS = new LinkedHashMap<>();

    static {
        FORMS.put(
                "timeout",
                Form.of(
                        "-?[0-9]+(?:ns|us|ms|s|m|h|d)?",
                        "must be a number and then ns, us, ms, s, m, h or d, such as timeout=2s"));
        FORMS.put("database", NUMBER);
        FORMS.put("db", NUMBER);
        FORMS.put("clientName", TEXT);
        FORMS.put("libraryName", TEXT);
        FORMS.put("libraryVersion", TEXT);
        FORMS.put("verifyPeer", Form.of("NONE|CA|FULL", "must be NONE, CA or FULL"));
        FORMS.put("sentinelMasterId", TEXT);
    }

    /** Any other text may be a part of a password that has a {@code ?} which is not encoded. */
    private static final Pattern HARMLESS = Pattern.compile("[A-Za-z]{1,20}");

    private AddressQuery() {}

    static Set<String> names() {
        return FORMS.keySet();
    }

    /**
     * Checks the parameters.
     *
     * @param query decoded; null for none
     * @throws IllegalArgumentException if a parameter does not exist, or its value is malformed; the message does not
     *     repeat the value
     */
    public static void require(@Nullable String query) {
        StringTokenizer parameters = new StringTokenizer(query == null ? "" : query, "&;"); // as the driver does
        while (parameters.hasMoreTokens()) {
            requireParameter(parameters.nextToken());
        }
    }

    private static void requireParameter(String parameter) {
        int end = parameter.indexOf('=');
        String written = end < 0 ? parameter : parameter.substring(0, end);
        Map.Entry<String, Form> known = known(written);
        if (known == null) {
            boolean isShown = end >= 0 && HARMLESS.matcher(written).matches();
            throw new IllegalArgumentException(
                    "the address has a parameter%s that does not exist; the parameters are %s. %s"
                            .formatted(
                                    isShown ? " '" + written + "'" : "",
                                    String.join(", ", names()),
                                    isShown ? "Its value" + NOT_SHOWN : "It" + NOT_SHOWN));
        }
        Form form = known.getValue();
        if (end < 0 || !form.pattern().matcher(parameter.substring(end + 1)).matches()) {
            throw new IllegalArgumentException("the address has a parameter '%s', whose value %s. It%s"
                    .formatted(known.getKey(), form.words(), NOT_SHOWN));
        }
    }

    /** Finds a parameter. The driver reads {@code db} as it stands, and the others whatever their case. */
    private static Map.@Nullable Entry<String, Form> known(String written) {
        for (Map.Entry<String, Form> form : FORMS.entrySet()) {
            String name = form.getKey();
            boolean isIt = name.equals("db") ? name.equals(written) : same(name, written);
            if (isIt) {
                return form;
            }
        }
        return null;
    }

    private static boolean same(String name, String written) {
        return name.toLowerCase(Locale.ROOT).equals(written.toLowerCase(Locale.ROOT));
    }
}
