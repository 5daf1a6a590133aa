package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import io.grpc.Status;
import io.holdfast.etcd.Transactions.Answer;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Which requests go together, without a server. */
class TransactionsTest {

    private static final long REVISION = 9;

    private final VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private final List<Sent> sent = new ArrayList<>();
    private final List<Answer> answers = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private final Transactions transactions = new Transactions(
            (KV) Proxy.newProxyInstance(
                    KV.class.getClassLoader(), new Class<?>[] {KV.class}, (proxy, method, args) -> new Sent()),
            time);

    /** A transaction that was committed. Its answer comes when a test says so. */
    private final class Sent implements Txn {

        private final CompletableFuture<TxnResponse> answer = new CompletableFuture<>();
        private List<Op> operations = List.of();

        @Override
        public Txn If(Cmp... conditions) {
            return this;
        }

        @Override
        public Txn Then(Op... ops) {
            operations = List.of(ops);
            return this;
        }

        @Override
        public Txn Else(Op... ops) {
            return this;
        }

        @Override
        public CompletableFuture<TxnResponse> commit() {
            sent.add(this);
            return answer;
        }

        /** How many requests went in it. */
        int requests() {
            return operations.get(0) instanceof Op.TxnOp ? operations.size() : 1;
        }

        void succeeds() {
            var response = io.etcd.jetcd.api.TxnResponse.newBuilder()
                    .setHeader(ResponseHeader.newBuilder().setRevision(REVISION))
                    .setSucceeded(true);
            for (int i = 0; requests() > 1 && i < requests(); i++) {
                response.addResponses(ResponseOp.newBuilder()
                        .setResponseTxn(
                                io.etcd.jetcd.api.TxnResponse.newBuilder().setSucceeded(i % 2 == 0)));
            }
            answer.complete(new TxnResponse(response.build(), ByteSequence.EMPTY));
        }

        void fails(Status status) {
            answer.completeExceptionally(status.asRuntimeException());
        }
    }

    private Mono<Answer> change(String claim, String turn) {
        Op put = Op.put(EtcdStore.bytes(claim), ByteSequence.EMPTY, PutOption.DEFAULT);
        return transactions.about(claim).inTurn(turn).then(put).commit();
    }

    @CanIgnoreReturnValue
    private Disposable send(String claim) {
        return send(claim, "");
    }

    @CanIgnoreReturnValue
    private Disposable send(String claim, String turn) {
        return change(claim, turn).subscribe(answers::add, failures::add);
    }

    private void sendTwoThatAreNotAnswered() {
        send("first");
        send("second");
        assertThat(sent).hasSize(2);
    }

    private List<Integer> sizes() {
        return sent.stream().map(Sent::requests).toList();
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
        // What one of them has read, the other may have changed in the same revision.
        assertThat(answers).allSatisfy(it -> {
            assertThat(it.revision()).isEqualTo(REVISION);
            assertThat(it.before()).isEqualTo(REVISION - 1);
        });
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
}
