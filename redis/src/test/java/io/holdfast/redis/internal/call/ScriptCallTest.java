package io.holdfast.redis.internal.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockBackendException;
import io.holdfast.redis.internal.connection.ManualDriver;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.script.LuaScript;
import io.holdfast.redis.internal.script.ScriptRequest;
import io.holdfast.redis.internal.topology.SingleMasterTopology;
import io.holdfast.redis.internal.topology.Topology;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;

/** One subscription to the answer of a script. */
class ScriptCallTest {

    private final ManualDriver driver = new ManualDriver();
    private final RedisURI server = RedisURI.create("redis://localhost");
    private final Topology topology = new SingleMasterTopology(driver, server);
    private final List<String> events = new ArrayList<>();

    private Mono<Long> call() {
        return ScriptMono.of(
                topology,
                ExceptionTranslator.at(List.of(server)),
                () -> new ScriptRequest<>(
                        LuaScript.load("mutex"),
                        "orders",
                        (to, link) -> to.number(0),
                        1,
                        reply -> reply[0],
                        () -> new ExceptionTranslator.Subject("orders", "test"),
                        () -> events.add("unknown")));
    }

    private class Told extends BaseSubscriber<Long> {

        @Override
        protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
            // requests nothing
        }

        @Override
        protected void hookOnNext(Long value) {
            events.add("answered " + value);
        }

        @Override
        protected void hookOnComplete() {
            events.add("completed");
        }

        @Override
        protected void hookOnError(Throwable error) {
            events.add("failed " + error.getClass().getSimpleName());
        }
    }

    private void answer(long number) {
        RedisCommand<?, ?, ?> last = driver.sent.get(driver.sent.size() - 1);
        last.getOutput().set(number);
        last.getOutput().complete(0);
        last.complete();
    }

    @Test
    void nothingIsSentBeforeTheAnswerIsRequested() {
        Told subscriber = new Told();
        call().subscribe(subscriber);
        assertThat(driver.sent).isEmpty();

        subscriber.request(1);
        subscriber.request(1);
        assertThat(driver.sent).hasSize(1);
        answer(7);

        assertThat(events).containsExactly("answered 7", "completed");
    }

    @Test
    void nothingIsSentAfterACancellation() {
        Told subscriber = new Told();
        call().subscribe(subscriber);
        subscriber.cancel();
        subscriber.request(1);

        assertThat(driver.sent).isEmpty();
        assertThat(events).isEmpty();
    }

    @Test
    void aCancelledCallIsWithdrawnAndItsOutcomeUnknown() {
        Told subscriber = new Told();
        call().subscribe(subscriber);
        subscriber.request(1);

        subscriber.cancel();

        assertThat(driver.sent.get(0).isDone())
                .as("the driver does not write a command that is done")
                .isTrue();
        answer(7);
        assertThat(events).containsExactly("unknown");
    }

    @Test
    void anAnsweredCallHasNoUnknownOutcome() {
        Told subscriber = new Told();
        call().subscribe(subscriber);
        subscriber.request(1);
        answer(7);

        subscriber.cancel();

        assertThat(events).containsExactly("answered 7", "completed");
    }

    @Test
    void aScriptThatTheServerLacksIsNotSentForACallThatWasCancelledMeanwhile() {
        Told first = new Told();
        call().subscribe(first);
        first.request(1);
        assertThat(driver.sent.get(0).completeExceptionally(new RedisNoScriptException("NOSCRIPT No matching script")))
                .isTrue();
        assertThat(driver.sent).extracting(RedisCommand::getType).contains(CommandType.EVAL);
        Told second = new Told();
        call().subscribe(second);
        second.request(1);
        assertThat(driver.sent).as("waits for the script").hasSize(2);

        second.cancel();
        answer(7);

        assertThat(driver.sent).hasSize(2);
        assertThat(events).containsExactly("answered 7", "completed");
    }

    /** A full server, for example, answers each call with an error before it knows the script. */
    @Test
    void aServerThatRefusesCallsGetsTheWholeScriptOnce() {
        List<Told> calls = lacking(4);
        refuse("OOM command not allowed");
        refuse("OOM command not allowed");
        assertThat(types()).containsExactly("EVALSHA", "EVAL", "EVALSHA", "EVALSHA");
        refuse("NOSCRIPT No matching script");
        answer(7);
        answer(8);

        assertThat(types()).containsExactly("EVALSHA", "EVAL", "EVALSHA", "EVALSHA", "EVAL", "EVALSHA");
        assertThat(events)
                .containsExactly(
                        "failed LockBackendException",
                        "failed LockBackendException",
                        "answered 7",
                        "completed",
                        "answered 8",
                        "completed");
        assertThat(calls).allMatch(Told::isDisposed);
    }

    @Test
    void othersDoNotWaitForACallThatAsksForTheScriptAndIsCancelled() {
        List<Told> calls = lacking(3);
        refuse("OOM command not allowed");
        calls.get(1).cancel();
        driver.pass(Duration.ofSeconds(1));
        answer(7);

        assertThat(types()).containsExactly("EVALSHA", "EVAL", "EVALSHA", "EVAL");
        assertThat(events).containsExactly("failed LockBackendException", "unknown", "answered 7", "completed");
    }

    @Test
    void callsKeepTheirOrderWhenTheConnectionIsLeft() {
        CompletableFuture<StatefulRedisPubSubConnection<String, String>> next = new CompletableFuture<>();
        List<Told> calls = lacking(4);
        driver.connections.add(next);
        refuse("READONLY You can't write against a read only replica");
        assertThat(types())
                .as("the second call asks at the server that is left")
                .containsExactly("EVALSHA", "EVAL", "EVALSHA");
        next.complete(driver.newConnection());
        answer(7);

        assertThat(types()).containsExactly("EVALSHA", "EVAL", "EVALSHA", "EVAL", "EVALSHA");
        assertThat(calls.get(2).isDisposed())
                .as("the third call goes before the fourth")
                .isTrue();
        assertThat(calls.get(3).isDisposed()).isFalse();
    }

    /** Otherwise each would try to connect, one after the other. */
    @Test
    void callsThatWaitForTheScriptTryToConnectTogether() {
        CompletableFuture<StatefulRedisPubSubConnection<String, String>> next = new CompletableFuture<>();
        CompletableFuture<StatefulRedisPubSubConnection<String, String>> second = new CompletableFuture<>();
        List<Told> calls = lacking(6);
        driver.connections.addAll(List.of(next, second));
        refuse("READONLY You can't write against a read only replica");
        next.completeExceptionally(new RedisException("refused"));
        assertThat(calls.subList(3, 6)).noneMatch(Told::isDisposed);
        second.completeExceptionally(new RedisException("refused"));

        assertThat(calls.subList(2, 6)).allMatch(Told::isDisposed);
        assertThat(types()).as("no third connection").containsExactly("EVALSHA", "EVAL", "EVALSHA");
    }

    /** Makes calls, of which the first brings the script, and the others wait. */
    private List<Told> lacking(int count) {
        List<Told> calls = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Told call = new Told();
            call().subscribe(call);
            call.request(1);
            calls.add(call);
            if (i == 0) {
                refuse("NOSCRIPT No matching script");
            }
        }
        assertThat(types()).containsExactly("EVALSHA", "EVAL");
        return calls;
    }

    private List<String> types() {
        return driver.sent.stream().map(command -> command.getType().toString()).toList();
    }

    private void refuse(String error) {
        RedisCommand<?, ?, ?> last = driver.sent.get(driver.sent.size() - 1);
        last.getOutput().setError(error);
        last.complete();
    }

    /** The thread is the driver's, which would write the exception to its log. */
    @Test
    void anExceptionOfASubscriberGoesToThatSubscriber() {
        Told subscriber = new Told() {
            @Override
            protected void hookOnNext(Long value) {
                throw new IllegalStateException("of the test");
            }
        };
        call().subscribe(subscriber);
        subscriber.request(1);

        answer(7);

        assertThat(events).containsExactly("failed IllegalStateException");
    }

    /** The link is calling the callers that wait for a connection with the result of the first attempt then. */
    @Test
    void aCallThatFollowsAFailedConnectionAtOnceWaitsForTheNextOne() {
        driver.connections.add(CompletableFuture.failedFuture(new RedisException("refused")));
        Told subscriber = new Told();
        call().onErrorResume(LockBackendException.class, refused -> call()).subscribe(subscriber);
        subscriber.request(1);
        assertThat(events).isEmpty();
        assertThat(driver.sent).hasSize(1);
        answer(7);

        assertThat(events).containsExactly("answered 7", "completed");
    }

    @Test
    void aRequestThatCannotBeMadeFails() {
        Mono<Long> broken = ScriptMono.of(topology, ExceptionTranslator.at(List.of(server)), () -> {
            throw new IllegalArgumentException("of the test");
        });

        broken.subscribe(new Told());

        assertThat(events).containsExactly("failed IllegalArgumentException");
        assertThat(driver.sent).isEmpty();
    }

    @Test
    void anAnswerWithoutMeaningFails() {
        Mono<Long> call = ScriptMono.of(
                topology,
                ExceptionTranslator.at(List.of(server)),
                () -> new ScriptRequest<>(
                        LuaScript.load("mutex"),
                        "orders",
                        (to, link) -> {},
                        1,
                        reply -> {
                            throw new IllegalStateException("unexpected reply");
                        },
                        () -> new ExceptionTranslator.Subject("orders", "test"),
                        () -> {}));
        Told subscriber = new Told();
        call.subscribe(subscriber);
        subscriber.request(1);
        answer(7);

        assertThat(events).containsExactly("failed " + LockBackendException.class.getSimpleName());
    }
}
