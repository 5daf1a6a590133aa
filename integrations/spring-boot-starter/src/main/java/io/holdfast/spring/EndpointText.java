package io.holdfast.spring;

import io.holdfast.ClientReport;
import io.holdfast.LockHolder;
import io.holdfast.LockReport;
import io.holdfast.LockWaiter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Builds the answers of the endpoint. They use the same names as the JSON of the command-line program. Durations are in milliseconds. Pure. */
final class EndpointText {

    private EndpointText() {}

    static Map<String, Object> of(ClientReport report) {
        Map<String, Object> text = new LinkedHashMap<>();
        text.put("holdCount", report.holdCount());
        text.put("holds", report.holds().stream().map(EndpointText::of).toList());
        text.put("waitCount", report.waitCount());
        text.put("waits", report.waits().stream().map(EndpointText::of).toList());
        return text;
    }

    private static Map<String, Object> of(ClientReport.Hold hold) {
        Map<String, Object> text = new LinkedHashMap<>();
        text.put("name", hold.lockName());
        text.put("kind", hold.kind());
        text.put("permits", hold.permits());
        text.put("claim", hold.claimId());
        text.put("token", hold.fencingToken());
        text.put("heldMillis", hold.held().toMillis());
        text.put("leftMillis", hold.remaining().toMillis());
        return text;
    }

    private static Map<String, Object> of(ClientReport.Wait wait) {
        Map<String, Object> text = new LinkedHashMap<>();
        text.put("name", wait.lockName());
        text.put("kind", wait.kind());
        text.put("permits", wait.permits());
        text.put("waitingMillis", wait.waited().toMillis());
        return text;
    }

    static Map<String, Object> of(LockReport lock) {
        Map<String, Object> text = new LinkedHashMap<>();
        text.put("name", lock.name());
        text.put("type", lock.type());
        text.put("holderCount", lock.holderCount());
        text.put("holders", lock.holders().stream().map(EndpointText::of).toList());
        text.put("waiterCount", lock.waiterCount());
        text.put("waiters", lock.waiters().stream().map(EndpointText::of).toList());
        text.put("lastToken", lock.lastToken().isPresent() ? lock.lastToken().getAsLong() : null);
        text.put("details", lock.details());
        text.put("warnings", List.copyOf(lock.warnings()));
        return text;
    }

    static Map<String, Object> of(LockHolder holder) {
        Map<String, Object> text = new LinkedHashMap<>();
        text.put("owner", holder.owner());
        text.put("claim", holder.claimId());
        text.put("kind", holder.kind());
        text.put("permits", holder.permits());
        text.put("token", holder.fencingToken());
        text.put("heldMillis", millis(holder.held()));
        text.put("leftMillis", millis(holder.remaining()));
        text.put("details", holder.details());
        return text;
    }

    private static Map<String, Object> of(LockWaiter waiter) {
        Map<String, Object> text = new LinkedHashMap<>();
        text.put("owner", waiter.owner());
        text.put("claim", waiter.claimId());
        text.put("kind", waiter.kind());
        text.put("permits", waiter.permits());
        text.put("allPermits", waiter.allPermits());
        text.put("waitingMillis", millis(waiter.waiting()));
        text.put("details", waiter.details());
        return text;
    }

    private static @Nullable Object millis(Optional<Duration> duration) {
        return duration.map(Duration::toMillis).orElse(null);
    }
}
