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
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The actuator endpoint {@code holdfast}. It reports the leases and waiters of this application's clients, and the locks of one name at the
 * server. If the application allows it, it can break a hold. The name of a lock is a parameter: in a path, Spring drops empty parts, so
 * {@code stock/} would be {@code stock}.
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

    /**
     * Reports the locks of one name. Empty if the server knows none.
     *
     * @param name null to report the clients of this application, without a request to a server
     */
    @ReadOperation
    @SuppressWarnings("deprecation") // Spring Boot 3 takes parameters with another annotation for required
    Mono<Map<String, Object>> report(@org.springframework.lang.Nullable String name) {
        return name == null
                ? Mono.fromSupplier(this::here)
                : inspect(name)
                        .map(EndpointText::of)
                        .collectList()
                        .filter(reports -> !reports.isEmpty())
                        .map(reports -> answer(Map.of("locks", reports)));
    }

    private Map<String, Object> here() {
        Map<String, Object> byBean = new LinkedHashMap<>();
        clients.forEach((bean, client) -> byBean.put(bean, EndpointText.of(client.report())));
        return answer(Map.of("clients", byBean));
    }

    /**
     * Takes the lock from its holder.
     *
     * @param name the name of the lock
     * @param claim the claim to break, if several hold the lock
     */
    @DeleteOperation
    @SuppressWarnings("deprecation") // as above
    Mono<Map<String, Object>> breakHold(String name, @org.springframework.lang.Nullable String claim) {
        return inspect(name)
                .flatMapIterable(LockReport::holders)
                .filter(holder -> claim == null || claim.equals(holder.claimId()))
                .collectList()
                .flatMap(holders -> breakOne(name, holders));
    }

    private Mono<Map<String, Object>> breakOne(String lockName, List<LockHolder> holders) {
        if (holders.isEmpty()) {
            return Mono.just(answer(Map.of("name", lockName, "broken", false)));
        }
        if (holders.size() > 1) {
            throw new InvalidEndpointRequestException(
                    "several claims hold the lock",
                    "Several claims hold the lock: name one with the parameter claim. GET lists them.");
        }
        LockHolder holder = holders.get(0);
        return inspector()
                .breakHold(lockName, holder)
                .map(isBroken ->
                        answer(Map.of("name", lockName, "broken", isBroken, "holder", EndpointText.of(holder))));
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
