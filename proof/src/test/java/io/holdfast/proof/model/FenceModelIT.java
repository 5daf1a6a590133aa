package io.holdfast.proof.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The model of the rows and the fence of SQL databases, {@code proof/models/Fence.tla}: all its states within bounds, and its mutants. */
class FenceModelIT {

    private static final String PROMISES =
            "INVARIANTS OneBeliever TokensRise NoLaterToken NoGhost NoLateCommit NoStaleRead FencedByAHeldLease";

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "MaySave=TRUE; MayPrepare=TRUE; MayRead=TRUE; MaySweep=TRUE",
                "MayShare=TRUE; MaxAsks=1",
                "Txs={\"x\", \"y\"}; MaxAsks=1; MaxTokens=2"
            })
    void noStateBreaksAPromise(String bounds) throws IOException, InterruptedException {
        Tlc.Result result = Tlc.explore(folder, "Fence", "Spec", constants("none", bounds), PROMISES);
        assertThat(result.broken()).as(result.output()).isEqualTo("nothing");
        assertThat(result.states()).isGreaterThan(1_000);
    }

    @ParameterizedTest(name = "without: {0}")
    @CsvSource(delimiter = '|', textBlock = """
                    a grant waits for the fence                          | '' | NoLateCommit
                    a holder that asks again gets its lease again        | '' | OneBeliever
                    a release waits for the commit of an attempt         | '' | NoGhost
                    a release leaves a trace                             | '' | NoGhost
                    a row is deleted when the clock has passed its token | MaySweep=TRUE | TokensRise
                    the check reads the present row                      | MayRead=TRUE | NoLateCommit
                    the check reads the snapshot too                     | MayRead=TRUE; Txs={"x", "y"}; MaxAsks=1 | NoStaleRead
                    the check fails for a lease that is over             | '' | NoLateCommit
                    the check of a writer fails after its downgrade      | MayShare=TRUE; MaxAsks=1 | NoLateCommit
                    the check fails inside a savepoint                   | MaySave=TRUE | NoLateCommit
                    a check for XA changes the row                       | MayPrepare=TRUE | NoLateCommit
                    """)
    void eachRuleIsNeeded(String rule, String bounds, String promise) throws IOException, InterruptedException {
        Tlc.Result result = Tlc.explore(folder, "Fence", "Spec", constants(rule, bounds), "INVARIANT " + promise);
        assertThat(result.broken()).as(result.output()).isEqualTo("Invariant " + promise + " is violated");
    }

    /** Two claims that ask twice, and one transaction. */
    private static Map<String, String> constants(String mutant, String bounds) {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("Claims", "{\"a\", \"b\"}");
        all.put("Txs", "{\"x\"}");
        all.put("MaxTokens", "3");
        all.put("MaxAsks", "2");
        all.put("MaySave", "FALSE");
        all.put("MayPrepare", "FALSE");
        all.put("MayRead", "FALSE");
        all.put("MayShare", "FALSE");
        all.put("MaySweep", "FALSE");
        all.put("Mutant", "\"" + mutant + "\"");
        Tlc.set(all, bounds);
        return all;
    }
}
