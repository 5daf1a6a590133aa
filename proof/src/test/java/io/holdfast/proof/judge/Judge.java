package io.holdfast.proof.judge;

import io.holdfast.proof.judge.Calls.Call;
import io.holdfast.proof.judge.Calls.What;
import io.holdfast.testkit.history.History;
import java.io.IOException;
import java.io.Reader;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;
import kotlin.Unit;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionResult;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.kotlinx.lincheck.execution.HBClock;
import org.jetbrains.kotlinx.lincheck.execution.ResultWithClock;
import org.jetbrains.kotlinx.lincheck.util.ValueResult;
import org.jetbrains.lincheck.LincheckKt;
import org.jetbrains.lincheck.datastructures.verifier.LinearizabilityVerifier;
import org.jetbrains.lincheck.jvm.agent.InstrumentationMode;

/**
 * Histories before a judge that we did not write: the verifier of Lincheck. It looks for an order of the calls, each within its interval, in which a
 * lock or a register accepts all of them.
 */
public final class Judge {

    /** Of the thread that judges: the verifier calls itself once for each call. */
    private static final long STACK = 256L << 20;

    private Judge() {}

    /** Judges hostile campaigns by their folders. */
    public static void main(String[] folders) throws IOException {
        List<String> refused = new ArrayList<>();
        for (String folder : folders) {
            refused.addAll(refused(List.of(promised(Path.of(folder))), List.of(all(Path.of(folder)))));
        }
        System.out.println(refused.isEmpty() ? "linearizable" : String.join("\n", refused));
    }

    /** Reads what a campaign promises exclusion for. */
    static History promised(Path folder) throws IOException {
        return read(List.of(folder.resolve("promised.txt")));
    }

    private static History all(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return read(files.filter(it -> it.getFileName().toString().startsWith("history-"))
                    .toList());
        }
    }

    private static History read(List<Path> journals) throws IOException {
        List<Reader> readers = new ArrayList<>();
        for (Path journal : journals) {
            readers.add(Files.newBufferedReader(journal));
        }
        return History.read(readers);
    }

    /** Returns the mutexes and registers whose history no order explains. */
    public static List<String> refused(List<History> histories) {
        return refused(histories, histories);
    }

    /**
     * Returns the mutexes and registers whose history no order explains.
     *
     * @param promised histories in which exclusion is promised
     * @param all the histories of registers, which are promised always
     */
    public static List<String> refused(List<History> promised, List<History> all) {
        List<Calls> mutexes = calls(promised, Calls::ofMutexes);
        List<Calls> registers = calls(all, Calls::ofRegisters);
        List<String> refused = new ArrayList<>();
        Thread judge = new Thread(null, () -> judge(mutexes, registers, refused), "judge", STACK);
        judge.start();
        try {
            judge.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return refused;
    }

    private static List<Calls> calls(List<History> histories, Function<History, List<Calls>> calls) {
        return histories.stream().flatMap(it -> calls.apply(it).stream()).toList();
    }

    /** The verifier works only where Lincheck runs tests. In this mode it changes no class but the two that it calls. */
    private static void judge(List<Calls> mutexes, List<Calls> registers, List<String> refused) {
        try {
            LincheckKt.withLincheckTestContext(InstrumentationMode.MODEL_CHECKING, () -> {
                refused.addAll(refused(mutexes, FencedLock.class));
                refused.addAll(refused(registers, FencedRegister.class));
                return Unit.INSTANCE;
            });
        } catch (RuntimeException | Error e) {
            refused.add("the judge failed: " + e);
        }
    }

    private static List<String> refused(List<Calls> objects, Class<?> as) {
        return objects.stream()
                .filter(it -> !isLinearizable(it.threads(), as))
                .map(it -> it.object() + ": no order explains " + it.threads())
                .toList();
    }

    private static boolean isLinearizable(List<List<Call>> threads, Class<?> as) {
        List<List<Actor>> actors = new ArrayList<>();
        List<List<ResultWithClock>> results = new ArrayList<>();
        for (int thread = 0; thread < threads.size(); thread++) {
            List<Call> calls = threads.get(thread);
            actors.add(calls.stream()
                    .map(it -> new Actor(method(as, it.what()), List.of(it.token())))
                    .toList());
            List<ResultWithClock> accepted = new ArrayList<>();
            for (int i = 0; i < calls.size(); i++) {
                int[] before = over(threads, calls.get(i).from());
                before[thread] = i;
                accepted.add(new ResultWithClock(new ValueResult(true), new HBClock(before)));
            }
            results.add(accepted);
        }
        return new LinearizabilityVerifier(as)
                .verifyResults(
                        new ExecutionScenario(List.of(), actors, List.of(), null),
                        new ExecutionResult(List.of(), results, List.of()));
    }

    /** Returns how many calls of each thread were over at that time. */
    private static int[] over(List<List<Call>> threads, long at) {
        return threads.stream()
                .mapToInt(
                        calls -> (int) calls.stream().filter(it -> it.to() < at).count())
                .toArray();
    }

    private static Method method(Class<?> as, What what) {
        try {
            return as.getMethod(what.name().toLowerCase(Locale.ROOT), long.class);
        } catch (NoSuchMethodException e) {
            throw new AssertionError(e);
        }
    }
}
