package io.holdfast.redlock;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockKind;
import io.holdfast.LockReport;
import io.holdfast.redlock.internal.claim.IdAtMaster;
import io.holdfast.redlock.internal.inspect.MasterAnswers;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.support.Printable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Sends each request to the inspectors of all masters. */
record RedlockInspector(Map<String, LockInspector> masters) implements LockInspector {

    @Override
    public Flux<LockReport> inspect(String name) {
        String checked = LockKey.of(LockKind.MUTEX, name).name();
        return reports(
                checked,
                "inspect lock '%s'".formatted(Printable.text(checked)),
                master -> master.inspect(checked).collectList());
    }

    @Override
    public Flux<LockReport> all() {
        return reports("", "inspect the locks", master -> master.all().collectList());
    }

    private Flux<LockReport> reports(
            String lockName, String subject, Function<LockInspector, Mono<List<LockReport>>> request) {
        return Flux.defer(
                () -> MasterAnswers.send(requests(request), lockName, subject).flatMapIterable(MasterAnswers::reports));
    }

    @Override
    public Mono<Boolean> breakHold(String lockName, LockHolder holder) {
        requireNonNull(holder, "holder");
        LockKey key = LockKey.of(holder.kind(), lockName);
        return Mono.defer(() -> MasterAnswers.send(
                        requests(master -> breakAt(master, key.name(), holder)),
                        lockName,
                        "break lock '%s'".formatted(Printable.text(lockName)))
                .map(answers -> answers.given().containsValue(true)));
    }

    /**
     * Breaks the hold under the id by which this master knows the claim. The other masters may know it by another id.
     */
    private static Mono<Boolean> breakAt(LockInspector master, String lockName, LockHolder holder) {
        String claimId = IdAtMaster.claimId(holder.claimId());
        return master.inspect(lockName)
                .flatMapIterable(LockReport::holders)
                .filter(it -> it.kind() == holder.kind()
                        && IdAtMaster.claimId(it.claimId()).equals(claimId))
                .defaultIfEmpty(holder) // a report may leave out some holders
                .concatMap(it -> master.breakHold(lockName, it))
                .reduce(false, Boolean::logicalOr);
    }

    private <A> Map<String, Mono<A>> requests(Function<LockInspector, Mono<A>> request) {
        Map<String, Mono<A>> requests = new LinkedHashMap<>();
        masters.forEach((name, master) -> requests.put(name, request.apply(master)));
        return requests;
    }

    @Override
    public Mono<Void> close() {
        return Mono.whenDelayError(
                masters.values().stream().map(LockInspector::close).toList());
    }
}
