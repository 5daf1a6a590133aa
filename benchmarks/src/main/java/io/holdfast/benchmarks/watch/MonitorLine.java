package io.holdfast.benchmarks.watch;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A line that {@code MONITOR} writes: {@code +1339518083.107412 [0 127.0.0.1:60866] "keys" "*"}. */
final class MonitorLine {

    private static final Pattern COMMAND = Pattern.compile("^\\+[0-9.]+ \\[[^]]*] \"([^\"]*)\"");

    private MonitorLine() {}

    /** The name of the command in lower case. */
    static String command(String line) {
        Matcher matcher = COMMAND.matcher(line);
        if (!matcher.find()) {
            throw new IllegalArgumentException("not a line of MONITOR: " + line);
        }
        return matcher.group(1).toLowerCase(Locale.ROOT);
    }
}
