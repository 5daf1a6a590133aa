package io.holdfast.spring;

import io.holdfast.LockClient;
import io.holdfast.LockHolder;
import io.holdfast.LockInspector;
import io.holdfast.LockReport;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The actuator endpoint {@code holdfast}. It reports the leases and waiters of this application's clients, and the locks of one name at the
 * server. If the application allows it, it can break a hold. A lock name may contain slashes, so it is the rest of the path.
 */
@Endpoint(id = "holdfast", defaultAccess = Access.READ_ONLY)
final class LockEndpoint {

    private final Map<String, LockClient> clients;

    /** Connects on its first use; returns null if the application has none. */
    private final Supplier<@Nullable LockInspector> inspector;

    LockEndpoint(Map<String, LockClient> clients, Supplier<@Nullable LockInspector> inspector) {
        this.clients = clients;
        this.inspector = inspector;
    }

    /** Reports the clients of this application. Sends no request to a server. */
    @ReadOperation
    Map<String, Object> here() {
        Map<String, Object> byBean = new LinkedHashMap<>();
        clients.forEach((bean, client) -> byBean.put(bean, EndpointText.of(client.report())));
        return OperationResponseBody.of(Map.of("clients", byBean));
    }

    /** Reports the locks of one name. Empty if the server knows none. */
    @ReadOperation
    Mono<Map<String, Object>> named(@Selector(match = Selector.Match.ALL_REMAINING) String[] name) {
        String lockName = String.join("/", name);
        return inspect(lockName)
                .map(EndpointText::of)
                .collectList()
                .filter(reports -> !reports.isEmpty())
                .map(reports -> OperationResponseBody.of(Map.of("locks", reports)));
    }

    /**
     * Takes the lock from its holder.
     *
     * @param name the name of the lock
     * @param claim the claim to break, if several hold the lock
     */
    @DeleteOperation
    Mono<Map<String, Object>> breakHold(
            @Selector(match = Selector.Match.ALL_REMAINING) String[] name, @Nullable String claim) {
        String lockName = String.join("/", name);
        return inspect(lockName)
                .flatMapIterable(LockReport::holders)
                .filter(holder -> claim == null || claim.equals(holder.claimId()))
                .collectList()
                .flatMap(holders -> breakOne(lockName, holders));
    }

    private Mono<Map<String, Object>> breakOne(String lockName, List<LockHolder> holders) {
        if (holders.isEmpty()) {
            return Mono.just(answer(Map.of("broken", false)));
        }
        if (holders.size() > 1) {
            throw new InvalidEndpointRequestException(
                    "several claims hold the lock",
                    "Several claims hold the lock: name one with the parameter claim. GET lists them.");
        }
        LockHolder holder = holders.get(0);
        return inspector()
                .breakHold(lockName, holder)
                .map(isBroken -> answer(Map.of("broken", isBroken, "holder", EndpointText.of(holder))));
    }

    private static Map<String, Object> answer(Map<String, Object> body) {
        return OperationResponseBody.of(body);
    }

    private Flux<LockReport> inspect(String lockName) {
        try {
            return inspector().inspect(lockName);
        } catch (IllegalArgumentException noName) {
            throw new InvalidEndpointRequestException(String.valueOf(noName.getMessage()), "No lock has such a name.");
        }
    }

    private LockInspector inspector() {
        LockInspector found = inspector.get();
        if (found == null) {
            throw new InvalidEndpointRequestException(
                    "no LockInspector",
                    "The application has a LockBackend of its own and no LockInspector: define a bean of that type.");
        }
        return found;
    }
}
