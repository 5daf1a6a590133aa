package io.holdfast.proof.sim;

import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Renewal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Mutants of the parts that only a cluster uses. */
final class ClusterMutants {

    /** The scripts publish this hint to a waiter that they pass over. */
    private static final String HINT = "publish(channel, 'C ' .. aside[i])";

    private static final String GRANT =
            "local entry, key = call('HGET', keys[3], aside[i]), keys[1] local _, _, _, to, _, secret, attempt = match(entry, PARTS)"
                    + " publish(to, 'G ' .. signed(secret, to, digits(now) .. ' ' .. attempt .. ' 2000 ' .. #aside[i] .. ' ' .. aside[i] .. ' ' .. key))";

    private ClusterMutants() {}

    static Mutant[] all() {
        return new Mutant[] {
            Mutant.withClocksApart(),
            Mutant.withFailoversDuringMoves(),
            Mutant.script("grant to a waiter whose channel has no listener", HINT, GRANT),
            Mutant.script(
                    "hand-off that goes to all servers",
                    "find(channel, '{', 1, true) and try('SPUBLISH', channel, message)",
                    "nil"),
            Mutant.refusal("redirection read as any other error", ClusterMutants::tryAgain),
        };
    }

    static Mutant renewalThatIsNotTriedAgain() {
        return Mutant.backend(
                "renewal that has to be tried again read as held", (host, it) -> new ReadsTryAgainAsHeld(it));
    }

    private static String tryAgain(String refusal) {
        return refusal.startsWith("MOVED") ? "TRYAGAIN it has moved" : refusal;
    }

    private static boolean isTryAgain(Throwable error) {
        for (Throwable e = error; e != null; e = e.getCause()) {
            if (String.valueOf(e.getMessage()).contains("TRYAGAIN")) {
                return true;
            }
        }
        return false;
    }

    private static final class ReadsTryAgainAsHeld implements ForwardingLockBackend {

        private final LockBackend real;

        ReadsTryAgainAsHeld(LockBackend real) {
            this.real = real;
        }

        @Override
        public LockBackend delegate() {
            return real;
        }

        @Override
        public Mono<Renewal> renew(LockClaim claim) {
            return real.renew(claim)
                    .map(answer -> read(claim, answer))
                    .onErrorResume(ClusterMutants::isTryAgain, error -> Mono.just(new Renewal.Held(claim.lease())));
        }

        @Override
        public Flux<Renewal> renewAll(List<LockClaim> claims) {
            return real.renewAll(claims)
                    .zipWithIterable(claims, (answer, claim) -> read(claim, answer))
                    .onErrorResume(
                            ClusterMutants::isTryAgain,
                            error -> Flux.fromIterable(claims).map(claim -> new Renewal.Held(claim.lease())));
        }

        private static Renewal read(LockClaim claim, Renewal answer) {
            return answer instanceof Renewal.Unknown unknown && isTryAgain(unknown.failure())
                    ? new Renewal.Held(claim.lease())
                    : answer;
        }
    }
}
