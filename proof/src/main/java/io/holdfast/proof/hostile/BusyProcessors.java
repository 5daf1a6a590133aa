package io.holdfast.proof.hostile;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/** Processes that only take processor time from the others. */
final class BusyProcessors {

    private static final int PER_PROCESSOR = 3;

    private final Path complaints;

    BusyProcessors(Path folder) {
        complaints = folder.resolve("complaints-busy.txt");
    }

    void starve(Strike strike) throws InterruptedException {
        int count = PER_PROCESSOR * Runtime.getRuntime().availableProcessors();
        List<Child> busy = IntStream.range(0, count)
                .mapToObj(i -> Child.start("busy-" + i, List.of("/bin/sh", "-c", "while :; do :; done"), complaints))
                .toList();
        try {
            strike.last();
        } finally {
            busy.forEach(Child::close);
        }
    }
}
