package io.holdfast.proof.judge;

import io.holdfast.proof.judge.Calls.Call;
import io.holdfast.testkit.history.LockOperation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * Writes the calls of mutexes in the form of Jepsen, which Knossos reads: a map of EDN for each call, and one for its return. A call that has not returned
 * ends with {@code :info}. {@code Edn OUT FOLDER} reads a hostile campaign, and writes a file for each mutex.
 */
public final class Edn {

    private record Line(long at, int order, String text) {}

    private Edn() {}

    public static void main(String[] args) throws IOException {
        Path out = Files.createDirectories(Path.of(args[0]));
        for (Calls mutex : Calls.ofMutexes(Judge.promised(Path.of(args[1])))) {
            Path file = out.resolve(mutex.object().replaceAll("[^A-Za-z0-9]+", "-") + ".edn");
            Files.writeString(file, of(mutex));
            System.out.println(file);
        }
    }

    /** Returns the calls of one object, one line for each call and each return. */
    static String of(Calls calls) {
        List<Line> lines = new ArrayList<>();
        for (int process = 0; process < calls.threads().size(); process++) {
            for (Call call : calls.threads().get(process)) {
                boolean isOver = call.to() != LockOperation.NEVER;
                lines.add(new Line(call.from(), 1, line(process, "invoke", call, call.from())));
                lines.add(new Line(call.to(), 0, line(process, isOver ? "ok" : "info", call, call.to())));
            }
        }
        lines.sort(Comparator.comparingLong(Line::at).thenComparingInt(Line::order));
        return String.join("\n", lines.stream().map(Line::text).toList()) + "\n";
    }

    private static String line(int process, String type, Call call, long at) {
        return "{:process %d, :type :%s, :f :%s, :value %d, :time %d}"
                .formatted(process, type, call.what().name().toLowerCase(Locale.ROOT), call.token(), at);
    }
}
