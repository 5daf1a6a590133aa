package io.holdfast.proof.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The model of the run, {@code proof/models/Run.tla}: all its states within bounds, and its mutants. {@code -Dproof.model=large} also lets
 * faults meet, which takes minutes.
 */
class RunModelIT {

    private static final String SAFETY =
            "INVARIANTS PromisesKept OneBeliever QueuedOnce ARunHasMembers NoWaiterIsForgotten AnotherLeaseIsAnotherRun";
    private static final String PROGRESS = "PROPERTIES EachWaiterIsServed TheLockIsFreeAtLast";

    private static final List<String> SMALL = List.of(
            "MaxDeadlines=1; MaxGrants=2; MayLeave={\"a1\", \"a2\"}",
            "MaxBreaks=1; MaxGrants=2; MayLeave={\"a1\"}",
            "MaxLasts=1; MayLeave={\"a1\"}",
            "MaxDeadlines=1; Alone={\"a1\"}",
            "MaxBreaks=1; MaxTicks=1; MaxGrants=2",
            "MaxFlushes=1; MaxGrants=2");

    private static final List<String> LARGE = List.of(
            "MaxDeadlines=1; MaxBreaks=1; MaxLasts=1",
            "MaxDeadlines=1; MayLeave=Claims",
            "MaxBreaks=1; MayLeave=Claims",
            "MaxLasts=1; MayLeave=Claims",
            "MaxBreaks=1; MaxTicks=1",
            "MaxFlushes=1; MaxTicks=1; MaxGrants=2");

    @TempDir
    Path folder;

    static Stream<String> bounds() {
        return "large".equals(System.getProperty("proof.model"))
                ? Stream.concat(SMALL.stream(), LARGE.stream())
                : SMALL.stream();
    }

    @ParameterizedTest
    @MethodSource("bounds")
    void noStateBreaksAPromise(String bounds) throws IOException, InterruptedException {
        assertNothingIsBroken(Tlc.explore(folder, "Run", "Spec", constants("none", bounds), SAFETY));
    }

    @ParameterizedTest
    @ValueSource(strings = {"MaxLosses=1", "MaxBreaks=1; MayLeave={}"})
    void eachWaiterIsServedAndTheLockIsFreeAtLast(String bounds) throws IOException, InterruptedException {
        assertNothingIsBroken(Tlc.explore(folder, "Run", "FairSpec", patient("none", bounds), PROGRESS));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
                    a known grant is answered with an end               | '' | OneBeliever
                    a late grant is served                              | '' | OneBeliever
                    a member that asks again is queued again            | '' | QueuedOnce
                    a run is served twice                               | '' | PromisesKept
                    a run without members goes on                       | MayLeave=Claims | ARunHasMembers
                    any end ends the run                                | MaxDeadlines=1 | OneBeliever
                    members that were not served go to the end          | MaxDeadlines=1 | PromisesKept
                    the client believes after the deadline              | '' | OneBeliever
                    the next run begins within the block of tokens      | '' | PromisesKept
                    the withdrawal of the first member ends the run     | MayLeave=Claims | OneBeliever
                    an end counts members that were not served          | MaxLasts=1 | NoWaiterIsForgotten
                    a member begins without a proof                     | MaxBreaks=1; MaxTicks=1 | PromisesKept
                    a proof counts from its answer                      | MaxBreaks=1; MaxTicks=2; MaxGrants=2 | PromisesKept
                    tokens begin anew in an empty store                 | MaxFlushes=1 | NoWaiterIsForgotten
                    a client that closes ends the run of another        | '' | OneBeliever
                    a claim with another lease joins a run              | Alone={"a1"} | AnotherLeaseIsAnotherRun
                    """)
    void mutantBreaksAPromise(String mutant, String bounds, String promise) throws IOException, InterruptedException {
        Tlc.Result result = Tlc.explore(folder, "Run", "Spec", constants(mutant, bounds), "INVARIANT " + promise);
        assertThat(result.broken()).as(result.output()).isEqualTo("Invariant " + promise + " is violated");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
                    a run of cancelled members is kept                  | '' | TheLockIsFreeAtLast
                    a claim is not told that an operator ended its hold | MaxBreaks=1; MayLeave={} | EachWaiterIsServed
                    """)
    void mutantEndsProgress(String mutant, String bounds, String promise) throws IOException, InterruptedException {
        Tlc.Result result = Tlc.explore(folder, "Run", "FairSpec", patient(mutant, bounds), "PROPERTY " + promise);
        assertThat(result.broken()).as(result.output()).isEqualTo("Temporal properties were violated");
    }

    private static void assertNothingIsBroken(Tlc.Result result) {
        assertThat(result.broken()).as(result.output()).isEqualTo("nothing");
        assertThat(result.states()).isGreaterThan(1_000);
    }

    /** Two clients, three claims: a run of two members and a stranger, in any order. */
    private static Map<String, String> constants(String mutant, String bounds) {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("Clients", "{\"A\", \"B\"}");
        all.put("Claims", "{\"a1\", \"a2\", \"b1\"}");
        all.put("Owner", "[c \\in {\"a1\", \"a2\", \"b1\"} |-> IF c = \"b1\" THEN \"B\" ELSE \"A\"]");
        all.put("MayLeave", "{}");
        all.put("Alone", "{}");
        all.put("MaxMembers", "3");
        all.put("MaxDeadlines", "0");
        all.put("MaxBreaks", "0");
        all.put("MaxFlushes", "0");
        all.put("MaxLasts", "0");
        all.put("MaxTicks", "0");
        all.put("MaxLosses", "0");
        all.put("MaxGrants", "3");
        all.put("IsPatient", "FALSE");
        all.put("Mutant", "\"" + mutant + "\"");
        Tlc.set(all, bounds);
        return all;
    }

    /** Enough grants for each schedule, and a store that lets a run expire only if its client cannot end it. */
    private static Map<String, String> patient(String mutant, String bounds) {
        Map<String, String> all = constants(mutant, "IsPatient=TRUE; MaxGrants=6; MayLeave={\"a1\"}");
        Tlc.set(all, bounds);
        return all;
    }
}
