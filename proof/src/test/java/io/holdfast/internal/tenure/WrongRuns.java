package io.holdfast.internal.tenure;

import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.LockRun;
import java.time.Duration;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/** Mutants of a client that serves runs, each with one mistake. */
public final class WrongRuns {

    private WrongRuns() {}

    private static Duration limit(Duration lease) {
        return Duration.ofMillis(lease.toMillis() / 4);
    }

    private interface Wrong {
        StoreFed of(LockClaim claim, LockRun run, Function<String, @Nullable LocalClaim> byId);
    }

    private static BiFunction<Scheduler, LockBackend, LockBackend> each(Wrong wrong) {
        return (clock, store) -> new StoreFedBackend(store, clock, WrongRuns::limit, now -> new RunTable(now) {
            @Override
            StoreFed rules(LockClaim of, LockRun run, Function<String, @Nullable LocalClaim> byId) {
                return wrong.of(of, run, byId);
            }
        });
    }

    /** Tells the back end that all members are over. */
    public static BiFunction<Scheduler, LockBackend, LockBackend> forgetsTheRest() {
        return each((claim, run, byId) -> new StoreFed(claim, run, byId) {
            @Override
            int served() {
                return run.members().size();
            }
        });
    }

    /** Ends a run before its last member is over. */
    public static BiFunction<Scheduler, LockBackend, LockBackend> endsEarly() {
        return each((claim, run, byId) -> new StoreFed(claim, run, byId) {
            @Override
            void own(Tenure tenure, LocalClaim owner, Moment at) {
                super.own(tenure, owner, at);
                if (!hasNext()) {
                    at.out().add(new Effect.EndRun(tenure, run.members().size()));
                }
            }
        });
    }
}
