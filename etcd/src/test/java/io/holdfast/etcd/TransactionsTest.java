package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import com.google.protobuf.ByteString;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.op.TxnImpl;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.grpc.Status;
import io.holdfast.LockBackendException;
import io.holdfast.etcd.Transactions.Answer;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Which requests go together, without a server. */
class TransactionsTest {

    private static final long REVISION = 9;
    private static final Duration TURN = Duration.ofSeconds(5);

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final List<Sent> sent = new ArrayList<>();
    private final List<Answer> answers = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final Transactions transactions = new Transactions(
            (KV) Proxy.newProxyInstance(
                    KV.class.getClassLoader(),
                    new Class<?>[] {KV.class},
                    (proxy, method, args) -> TxnImpl.newTxn(this::commit, ByteSequence.EMPTY)),
            time);

    /** The owner of the driver's client has closed it. */
    private boolean isClientClosed;

    private boolean isFatal;

    /** The answer comes before anyone waits for it. */
    private boolean isFast;

    private Runnable whileSending = () -> {};

    private CompletableFuture<TxnResponse> commit(TxnRequest request) {
        if (isFatal) {
            throw new NoClassDefFoundError("once");
        }
        Sent it = new Sent(request, new CompletableFuture<>());
        sent.add(it);
        whileSending.run();
        if (isFast) {
            it.succeeds();
        }
        if (isClientClosed) {
            it.fails(Status.UNAVAILABLE);
        }
        return it.answer;
    }

    /** A transaction that was committed. Its answer comes when a test says so. */
    private record Sent(TxnRequest request, CompletableFuture<TxnResponse> answer) {

        private boolean isBatch() {
            return request.getSuccess(0).hasRequestTxn();
        }

        /** The claims whose requests went in it, or the keys that it reads. */
        List<String> about() {
            return request.getSuccessList().stream()
                    .map(it -> isBatch() ? it.getRequestTxn().getSuccess(0) : it)
                    .map(it -> it.hasRequestPut()
                            ? it.getRequestPut().getKey()
                            : it.getRequestRange().getKey())
                    .map(ByteString::toStringUtf8)
                    .toList();
        }

        void succeeds() {
            var response = io.etcd.jetcd.api.TxnResponse.newBuilder()
                    .setHeader(ResponseHeader.newBuilder().setRevision(REVISION))
                    .setSucceeded(true);
            for (int i = 0; i < about().size(); i++) {
                ResponseOp.Builder part = ResponseOp.newBuilder();
                if (request.getSuccess(i).hasRequestTxn()) {
                    part.getResponseTxnBuilder().setSucceeded(i % 2 == 0);
                } else if (request.getSuccess(i).hasRequestRange()) {
                    part.getResponseRangeBuilder().setCount(i);
                }
                response.addResponses(part);
            }
            answer.complete(new TxnResponse(response.build(), ByteSequence.EMPTY));
        }

        void fails(Status status) {
            answer.completeExceptionally(status.asRuntimeException());
        }
    }

    private Mono<Answer> change(String claim, String turn) {
        Op put = Op.put(EtcdStore.bytes(claim), ByteSequence.EMPTY, PutOption.DEFAULT);
        return transactions.about(claim).inTurn(turn, TURN).then(put).commit();
    }

    @CanIgnoreReturnValue
    private Disposable send(String claim) {
        return send(claim, "");
    }

    @CanIgnoreReturnValue
    private Disposable send(String claim, String turn) {
        return change(claim, turn).subscribe(answers::add, failures::add);
    }

    @CanIgnoreReturnValue
    private Disposable read(String key) {
        return reading(transactions.read(get(key)));
    }

    @CanIgnoreReturnValue
    private Disposable reading(Mono<Answer> read) {
        return read.subscribe(answers::add, failures::add);
    }

    private static Op get(String key) {
        return Op.get(EtcdStore.bytes(key), GetOption.DEFAULT);
    }

    private void sendTwoThatAreNotAnswered() {
        send("first");
        send("second");
        assertThat(sent).hasSize(2);
    }

    private List<Integer> sizes() {
        return sent.stream().map(it -> it.about().size()).toList();
    }

    @Test
    void whatComesWhileTwoAreUnderWayGoesTogether() {
        sendTwoThatAreNotAnswered();
        for (int i = 0; i < 150; i++) {
            send("claim-" + i);
        }
        assertThat(sent).hasSize(2);
        sent.get(0).succeeds();
        sent.get(1).succeeds();
        assertThat(sizes()).containsExactly(1, 1, 100, 50);
    }

    @Test
    void eachRequestHasItsOwnAnswer() {
        sendTwoThatAreNotAnswered();
        send("a");
        send("b");
        sent.get(0).succeeds();
        answers.clear();
        sent.get(2).succeeds();
        assertThat(answers).extracting(Answer::isSucceeded).containsExactly(true, false);
        assertThat(answers).allSatisfy(it -> assertThat(it.revision()).isEqualTo(REVISION));
    }

    @Test
    void requestsOfOneClaimDoNotGoTogether() {
        sendTwoThatAreNotAnswered();
        send("claim");
        send("claim");
        send("other");
        sent.get(0).succeeds();
        assertThat(sizes()).containsExactly(1, 1, 2);
        sent.get(1).succeeds();
        assertThat(sizes()).containsExactly(1, 1, 2, 1);
    }

    @Test
    void nextOfATurnWaitsForTheAnswer() {
        send("a", "stock");
        send("b", "stock");
        send("c", "stock");
        time.advanceTimeBy(Duration.ofSeconds(2));
        assertThat(sent).hasSize(1);
        sent.get(0).succeeds();
        assertThat(sent).hasSize(2);
        sent.get(1).fails(Status.UNAVAILABLE);
        assertThat(sent).hasSize(3);
    }

    /** A client gives up what takes long. If it was not sent, its outcome is known, and it has waited for its own client only. */
    @Test
    void requestWhoseTurnIsLateFailsUnsent() {
        send("a", "stock");
        send("b", "stock");
        time.advanceTimeBy(TURN);
        assertThat(sent).hasSize(1);
        assertThat(failures)
                .singleElement()
                .isInstanceOfSatisfying(
                        LockBackendException.class,
                        error -> assertThat(error.retryAfter()).hasValue(Duration.ZERO))
                .asString()
                .contains("could not join the waiters of lock 'stock' in etcd within PT5S");
    }

    @Test
    void claimKeepsItsPositionWhenItsRequestIsGivenUpBeforeItsTurn() {
        send("a", "stock");
        send("late", "stock");
        send("cancelled", "stock").dispose();
        time.advanceTimeBy(TURN);
        send("newer", "stock");
        send("cancelled", "stock");
        send("late", "stock");
        for (int i = 0; i < 4; i++) {
            sent.get(i).succeeds();
        }
        assertThat(sent).flatExtracting(Sent::about).containsExactly("a", "late", "cancelled", "newer");
    }

    @Test
    void claimThatComesBackLateHoldsUpNone() {
        Disposable first = send("a", "stock");
        send("late", "stock").dispose();
        first.dispose();
        send("newer", "stock");
        assertThat(sent).flatExtracting(Sent::about).containsExactly("a", "newer");
        send("late", "stock");
        send("newest", "stock");
        sent.get(1).succeeds();
        assertThat(sent).flatExtracting(Sent::about).containsExactly("a", "newer", "late");
    }

    @Test
    void claimThatIsForgottenLosesItsPosition() {
        send("a", "stock");
        send("gone", "stock").dispose();
        transactions.forget("gone", "stock");
        send("b", "stock");
        send("gone", "stock");
        sent.get(0).succeeds();
        assertThat(sent).flatExtracting(Sent::about).containsExactly("a", "b");
    }

    @Test
    void requestsOfOneClaimAllHaveTheirTurn() {
        send("a", "stock");
        send("a", "stock");
        send("a", "stock");
        for (int i = 0; i < 3; i++) {
            sent.get(i).succeeds();
        }
        assertThat(answers).hasSize(3);
    }

    @Test
    void allFailWhenTheClientIsClosedHoweverManyWaitForTheirTurn() {
        sendTwoThatAreNotAnswered();
        int many = 20_000;
        for (int i = 0; i < many; i++) {
            send("claim-" + i, "stock");
        }
        isClientClosed = true;
        sent.get(0).fails(Status.UNAVAILABLE);
        assertThat(failures).hasSize(many + 1);
    }

    /** As claims do that withdraw what may have arrived. */
    @Test
    void allFailHoweverManyFailuresSendAnotherRequest() {
        sendTwoThatAreNotAnswered();
        int many = 20_000;
        for (int i = 0; i < many; i++) {
            String claim = "claim-" + i;
            Disposable unused = change(claim, "stock").subscribe(answers::add, error -> {
                failures.add(error);
                send(claim);
            });
        }
        isClientClosed = true;
        sent.get(0).fails(Status.UNAVAILABLE);
        assertThat(failures).hasSize(2 * many + 1);
    }

    @Test
    void nextOfATurnGoesWhenThoseBeforeItAreGivenUp() {
        Disposable hung = send("a", "stock");
        Disposable waits = send("b", "stock");
        send("c", "stock");
        waits.dispose();
        assertThat(sent).hasSize(1);
        hung.dispose();
        assertThat(sent).hasSize(2);
        sent.get(0).succeeds(); // late
        sent.get(1).succeeds();
        assertThat(answers).hasSize(1);
    }

    private void release(String claim, boolean isFollowed) {
        Op put = Op.put(EtcdStore.bytes(claim), ByteSequence.EMPTY, PutOption.DEFAULT);
        var unused = transactions
                .about(claim)
                .freeing("stock", isFollowed)
                .then(put)
                .commit()
                .subscribe(answers::add, failures::add);
    }

    /** A hand-over and an entry are then one entry in the log of etcd. The entry reads what the release has left. */
    @Test
    void entryGoesWithTheReleaseThatIsDueAndBehindIt() {
        release("a", true);
        send("entry", "stock");
        send("of another lock", "flour");
        assertThat(sent).flatExtracting(Sent::about).containsExactly("a", "of another lock");
        sent.get(0).succeeds();
        release("b", false);
        assertThat(sent.get(2).about()).containsExactly("b", "entry");
        send("no release is due", "stock");
        sent.get(2).succeeds();
        assertThat(sent.get(3).about()).containsExactly("no release is due");
    }

    @Test
    void entryDoesNotWaitLongForARelease() {
        release("a", true);
        send("entry", "stock");
        sent.get(0).succeeds();
        time.advanceTimeBy(Duration.ofMillis(9));
        assertThat(sent).hasSize(1);
        time.advanceTimeBy(Duration.ofMillis(11));
        assertThat(sent.get(1).about()).containsExactly("entry");
    }

    @Test
    void requestThatIsGivenUpBeforeItIsSentIsNeverSent() {
        sendTwoThatAreNotAnswered();
        send("given up").dispose();
        sent.get(0).succeeds();
        assertThat(sent).hasSize(2);
    }

    /** The member that hangs may be one of several. */
    @Test
    void transactionsWithoutAnAnswerDoNotHoldUpOthersForLong() {
        sendTwoThatAreNotAnswered();
        send("third");
        time.advanceTimeBy(Duration.ofMillis(299));
        assertThat(sent).hasSize(2);
        time.advanceTimeBy(Duration.ofMillis(1));
        assertThat(sent).hasSize(3);
    }

    /** The driver keeps all of them, and etcd carries them out when it is back. */
    @Test
    void fewTransactionsAreSentWhileNothingIsAnswered() {
        sendTwoThatAreNotAnswered();
        for (int second = 0; second < 600; second++) {
            Disposable given = send("claim-" + second);
            time.advanceTimeBy(Duration.ofSeconds(1));
            given.dispose();
        }
        assertThat(sent).hasSizeBetween(100, 300);
        sent.get(0).succeeds();
        send("next");
        time.advanceTimeBy(Duration.ofMillis(300));
        assertThat(sent.get(sent.size() - 1).about()).containsExactly("next");
    }

    @Test
    void requestThatIsRefusedFailsAloneAndTheOthersAreSentAgain() {
        sendTwoThatAreNotAnswered();
        send("good");
        send("refused");
        sent.get(0).succeeds();
        answers.clear();
        sent.get(2).fails(Status.NOT_FOUND);
        assertThat(failures).isEmpty();
        assertThat(sizes()).containsExactly(1, 1, 2, 1, 1);
        sent.get(3).succeeds();
        sent.get(4).fails(Status.NOT_FOUND);
        assertThat(answers).hasSize(1);
        assertThat(failures).hasSize(1);
    }

    /** Some may have been changed: to send them again could undo what came after them. */
    @Test
    void unknownOutcomeIsThatOfAllAndNothingIsSentAgain() {
        sendTwoThatAreNotAnswered();
        send("a");
        send("b");
        sent.get(0).succeeds();
        sent.get(2).fails(Status.UNAVAILABLE);
        assertThat(failures).hasSize(2);
        assertThat(sent).hasSize(3);
    }

    /** A full database refuses some that it has changed, and so does a client whose answer is too large. */
    @Test
    void changeThatMayHaveTakenEffectIsNotSentAgain() {
        sendTwoThatAreNotAnswered();
        send("a");
        send("b");
        sent.get(0).succeeds();
        sent.get(2).fails(Status.RESOURCE_EXHAUSTED);
        assertThat(failures).hasSize(2);
        assertThat(sent).hasSize(3);
    }

    @Test
    void readsWhoseAnswerIsTooLargeAreSentAgainOneByOne() {
        read("first");
        read("second");
        read("a");
        read("b");
        sent.get(0).succeeds();
        answers.clear();
        sent.get(2).fails(Status.RESOURCE_EXHAUSTED);
        sent.get(3).succeeds();
        sent.get(4).succeeds();
        assertThat(answers).hasSize(2);
        assertThat(sent).flatExtracting(Sent::about).containsExactly("first", "second", "a", "b", "a", "b");
    }

    @Test
    void requestThatIsGivenUpIsNotSentAgain() {
        sendTwoThatAreNotAnswered();
        Disposable givenUp = send("given up");
        send("wanted");
        sent.get(0).succeeds();
        givenUp.dispose();
        sent.get(2).fails(Status.NOT_FOUND);
        assertThat(sent).flatExtracting(Sent::about).containsExactly("first", "second", "given up", "wanted", "wanted");
    }

    @Test
    void subscriberThatThrowsKeepsNoOtherFromItsAnswer() {
        sendTwoThatAreNotAnswered();
        sendOneThatThrows();
        Disposable unused = send("other");
        sent.get(0).succeeds();
        sent.get(2).succeeds();
        assertThat(answers).hasSize(2);
        assertThat(failures).isEmpty();
    }

    @Test
    void subscriberThatThrowsKeepsNoOtherFromItsFailure() {
        sendTwoThatAreNotAnswered();
        sendOneThatThrows();
        Disposable unused = send("other");
        sent.get(0).succeeds();
        sent.get(2).fails(Status.UNAVAILABLE);
        assertThat(failures).hasSize(1);
        assertThat(sent).as("none is sent again").hasSize(3);
    }

    private void sendOneThatThrows() {
        transactions.about("throws").then(get("throws")).commit().subscribe(new CoreSubscriber<>() {
            @Override
            public void onSubscribe(Subscription subscription) {
                subscription.request(1);
            }

            @Override
            public void onNext(Answer answer) {
                throw new IllegalStateException("users' code threw");
            }

            @Override
            public void onError(Throwable error) {
                throw new IllegalStateException("and again");
            }

            @Override
            public void onComplete() {}
        });
    }

    /** Another thread sends while users' code is slow. */
    @Test
    void usersCodeDelaysNoOtherRequestAlthoughItsAnswerCameAtOnce() {
        isFast = true;
        List<Integer> sentBefore = new ArrayList<>();
        Disposable unused = change("slow", "").subscribe(answer -> {
            Thread other = new Thread(() -> send("other"));
            other.start();
            join(other);
            sentBefore.add(sent.size());
        });
        assertThat(sentBefore).containsExactly(2);
    }

    /** The driver brings an answer while another thread sends. */
    @Test
    void threadThatSendsRunsNoUsersCodeOfOtherRequests() {
        List<Thread> ran = new ArrayList<>();
        Disposable unused = change("answered", "").subscribe(answer -> ran.add(Thread.currentThread()));
        Thread driver = new Thread(() -> sent.get(0).succeeds());
        whileSending = () -> {
            driver.start();
            join(driver);
        };
        send("other");
        assertThat(ran).containsExactly(driver);
    }

    /** As a proxy may make it. */
    @Test
    void answerThatLacksSomePartsIsAFailureOfAll() {
        read("first");
        read("second");
        read("a");
        read("b");
        sent.get(0).succeeds();
        sent.get(2)
                .answer
                .complete(new TxnResponse(io.etcd.jetcd.api.TxnResponse.getDefaultInstance(), ByteSequence.EMPTY));
        assertThat(failures).hasSize(2);
    }

    private static void join(Thread other) {
        try {
            other.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** It would be logged as an error that was dropped. */
    @Test
    void failureOfARequestThatIsGivenUpGoesNowhere() {
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(dropped::add);
        try {
            send("given up").dispose();
            sent.get(0).fails(Status.UNAVAILABLE);
            assertThat(dropped).isEmpty();
        } finally {
            Hooks.resetOnErrorDropped();
        }
    }

    /** An interruption makes all waiters read at once. */
    @Test
    void readsOfHoldersGoBeforeThoseThatWait() {
        read("first");
        read("second");
        for (int i = 0; i < 150; i++) {
            read("waiter");
        }
        reading(transactions.readFirst(get("holder")));
        sent.get(0).succeeds();
        assertThat(sent.get(2).about()).startsWith("holder").hasSize(100);
    }

    @Test
    void errorOfTheJvmInTheDriverDoesNotStopLaterTransactions() {
        isFatal = true;
        try {
            send("one");
        } catch (LinkageError passedOn) {
            // to the caller
        }
        isFatal = false;
        send("two");
        time.advanceTimeBy(Duration.ofSeconds(60));
        assertThat(sent).hasSize(1);
    }
}
