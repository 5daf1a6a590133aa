package io.holdfast.redis.internal.call;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.holdfast.LockBackendException;
import io.holdfast.redis.internal.connection.ManualDriver;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.script.LuaScript;
import io.holdfast.redis.internal.script.ReplyDecoder;
import io.holdfast.redis.internal.script.ScriptRequest;
import io.holdfast.redis.internal.topology.SingleMasterTopology;
import io.holdfast.redis.internal.topology.Topology;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
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
        return call("orders");
    }

    private Mono<Long> call(String key) {
        return ScriptMono.of(
                topology,
                ExceptionTranslator.at(List.of(server)),
                () -> new ScriptRequest<>(
                        LuaScript.load("lock"),
                        key,
                        (to, link) -> to.number(0),
                        ReplyDecoder.ofNumbers(1, reply -> reply[0]),
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
    void theScriptIsLoadedBeforeTheFirstCallOfAConnection() {
        send("first", "second");
        assertThat(driver.loads).hasSize(1);
        assertThat(driver.sent).hasSize(2);

        refuse(0, "READONLY You can't write against a read only replica");
        send("third");

        assertThat(driver.loads).as("on another connection").hasSize(2);
        assertThat(keys()).containsExactly("first", "second", "third");
    }

    @Test
    void callsThatTheServerCouldNotRunAreSentAgainInTheirOrder() {
        send("first", "second", "third");
        refuse(0, NO_SCRIPT);
        assertThat(driver.loads).hasSize(2);
        send("fourth");
        refuse(1, NO_SCRIPT);
        refuse(2, NO_SCRIPT);
        assertThat(keys()).as("none before the script is there").containsExactly("first", "second", "third");

        loaded();

        assertThat(keys().subList(3, 7)).containsExactly("first", "second", "third", "fourth");
        assertThat(types()).containsOnly("EVALSHA");
        assertThat(driver.loads).hasSize(2);
    }

    /** A release must not overtake an earlier attempt. */
    @Test
    void aCallThatCameMeanwhileWaitsForAnEarlierOneWhoseAnswerCameLate() {
        send("first", "second");
        refuse(0, NO_SCRIPT);
        send("third");
        refuse(1, NO_SCRIPT);
        loaded();

        assertThat(keys().subList(2, 5)).containsExactly("first", "second", "third");
    }

    @Test
    void aCallThatIsCancelledMeanwhileIsNotSentAgain() {
        List<Told> calls = send("first", "second");
        refuse(0, NO_SCRIPT);
        refuse(1, NO_SCRIPT);
        calls.addAll(send("third"));
        calls.get(1).cancel();
        calls.get(2).cancel();
        loaded();

        assertThat(keys()).containsExactly("first", "second", "first");
        assertThat(events).as("the outcome of none is unknown").isEmpty();
    }

    /** All answers may come too late for their callers. */
    @Test
    void aCallThatWasCancelledBeforeItsAnswerHasTheScriptLoaded() {
        send("first").get(0).cancel();
        refuse(0, NO_SCRIPT);
        assertThat(driver.loads).hasSize(2);
        send("second");
        loaded();

        assertThat(keys()).containsExactly("first", "second");
    }

    /** The server forgets the script again and again, or this user may not load any. */
    @Test
    void oneCallBringsTheScriptWhenLoadingDoesNotHelp() {
        send("first", "second");
        refuse(0, NO_SCRIPT);
        refuse(1, NO_SCRIPT);
        refused();
        refuse(2, NO_SCRIPT);
        refuse(3, NO_SCRIPT);
        refused();

        assertThat(keys().subList(4, 6)).containsExactly("first", "second");
        assertThat(types()).containsExactly("EVALSHA", "EVALSHA", "EVALSHA", "EVALSHA", "EVAL", "EVALSHA");
    }

    /** A user without the right to load scripts must not send the text with each call. */
    @Test
    void aScriptWhoseLoadingWasRefusedIsLoadedOnceOnAConnection() {
        send("first");
        refused();
        send("second", "third");

        assertThat(driver.loads).hasSize(1);
        assertThat(types()).containsExactly("EVALSHA", "EVALSHA", "EVALSHA");
    }

    @Test
    void callsKeepTheirOrderWhenTheConnectionIsLeft() {
        CompletableFuture<StatefulRedisPubSubConnection<String, String>> next = new CompletableFuture<>();
        send("first", "second", "third");
        driver.connections.add(next);
        refuse(0, NO_SCRIPT);
        send("fourth");
        refuse(1, NO_SCRIPT);
        refuse(2, "READONLY You can't write against a read only replica");
        send("fifth");
        assertThat(driver.sent).hasSize(3);
        next.complete(driver.newConnection());

        assertThat(keys().subList(3, 7)).containsExactly("first", "second", "fourth", "fifth");
    }

    /** Otherwise each would try to connect, one after the other. */
    @Test
    void callsThatWaitForTheScriptTryToConnectTogether() {
        CompletableFuture<StatefulRedisPubSubConnection<String, String>> next = new CompletableFuture<>();
        List<Told> calls = send("first", "second");
        driver.connections.add(next);
        refuse(0, NO_SCRIPT);
        calls.addAll(send("third", "fourth"));
        refuse(1, "READONLY You can't write against a read only replica");
        next.completeExceptionally(new RedisException("refused"));

        assertThat(calls).allMatch(Told::isDisposed);
        assertThat(driver.sent).hasSize(2);
    }

    @Test
    void callsDoNotWaitForAServerThatAnswersNothingMore() {
        List<Told> calls = send("first");
        refuse(0, NO_SCRIPT);
        calls.addAll(send("second"));
        calls.get(0).cancel();
        driver.pass(Duration.ofSeconds(1));

        assertThat(keys()).as("on another connection").containsExactly("first", "second");
        assertThat(driver.loads).hasSize(3);
    }

    private static final String NO_SCRIPT = "NOSCRIPT No matching script. Please use EVAL.";

    @CanIgnoreReturnValue
    private List<Told> send(String... keys) {
        List<Told> calls = new ArrayList<>();
        for (String key : keys) {
            Told call = new Told();
            call(key).subscribe(call);
            call.request(1);
            calls.add(call);
        }
        return calls;
    }

    private List<String> types() {
        return driver.sent.stream().map(command -> command.getType().toString()).toList();
    }

    private List<String> keys() {
        return driver.sent.stream()
                .map(command -> command.toString().replaceAll(".* ", ""))
                .toList();
    }

    private void refuse(int command, String error) {
        refuse(driver.sent.get(command), error);
    }

    private static void refuse(RedisCommand<?, ?, ?> command, String error) {
        command.getOutput().setError(error);
        command.complete();
    }

    /** The server answers to the last loading of a script. */
    private void loaded() {
        driver.loads.get(driver.loads.size() - 1).complete();
    }

    private void refused() {
        refuse(driver.loads.get(driver.loads.size() - 1), "NOPERM this user has no permissions to run 'script|load'");
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
                        LuaScript.load("lock"),
                        "orders",
                        (to, link) -> {},
                        ReplyDecoder.ofNumbers(1, reply -> {
                            throw new IllegalStateException("unexpected reply");
                        }),
                        () -> new ExceptionTranslator.Subject("orders", "test"),
                        () -> {}));
        Told subscriber = new Told();
        call.subscribe(subscriber);
        subscriber.request(1);
        answer(7);

        assertThat(events).containsExactly("failed " + LockBackendException.class.getSimpleName());
    }
}
