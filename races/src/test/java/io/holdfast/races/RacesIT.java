package io.holdfast.races;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.openjdk.jcstress.Options;
import org.openjdk.jcstress.infra.Status;
import org.openjdk.jcstress.infra.TestInfo;
import org.openjdk.jcstress.infra.collectors.TestResult;
import org.openjdk.jcstress.infra.runners.ForkedTestConfig;
import org.openjdk.jcstress.infra.runners.Runner;
import org.openjdk.jcstress.infra.runners.TestConfig;
import org.openjdk.jcstress.infra.runners.TestList;
import org.openjdk.jcstress.os.AffinityMode;
import org.openjdk.jcstress.os.NodeType;
import org.openjdk.jcstress.os.SchedulingClass;

/**
 * Runs every race for a moment, in this JVM. It fails on an outcome that the annotations of the race forbid. The program of jcstress starts JVMs
 * for each race and takes minutes; {@code ./races/run} starts it.
 */
class RacesIT {

    /** Threads that wait for each other yield: there may be fewer cores than threads. */
    private static final String[] A_MOMENT = {
        "-time", System.getProperty("races.millis", "100"),
        "-iters", "1",
        "-strideSize", "64",
        "-strideCount", "8",
        "-spinStyle", "THREAD_YIELD"
    };

    static Stream<String> races() {
        return TestList.tests().stream().sorted();
    }

    @ParameterizedTest
    @MethodSource("races")
    void raceHasNoForbiddenOutcome(String race) throws IOException, ReflectiveOperationException {
        TestResult result = run(race);

        assertEquals(Status.NORMAL, result.status(), () -> race + ": " + result.getMessages());
        assertTrue(result.grading().isPassed, () -> race + ": " + result.grading().failureMessages + outcomes(result));
    }

    private static TestResult run(String race) throws IOException, ReflectiveOperationException {
        Options options = new Options(A_MOMENT);
        assertTrue(options.parse());
        TestInfo info = TestList.getInfo(race);
        SchedulingClass anyCore = new SchedulingClass(AffinityMode.NONE, info.threads(), NodeType.PACKAGE);
        TestConfig config = new TestConfig(options, info, 1, List.of(), 0, anyCore);
        Runner<?> runner = Class.forName(info.generatedRunner())
                .asSubclass(Runner.class)
                .getConstructor(ForkedTestConfig.class)
                .newInstance(new ForkedTestConfig(config));
        TestResult result = runner.run();
        result.setConfig(config);
        return result;
    }

    private static String outcomes(TestResult result) {
        StringBuilder text = new StringBuilder();
        for (String outcome : result.getStateKeys()) {
            text.append("%n  %,9d  %s".formatted(result.getCount(outcome), outcome));
        }
        return text.toString();
    }
}
