package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Lease;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.op.TxnImpl;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Sits between the back end and a client of the driver: one request arrives late, or its answer is lost. */
final class Tampering {

    /** What becomes of a request. */
    enum Fate {
        /** Its member freezes before it gets the request. */
        ARRIVES_LATE,
        /** Its answer comes when the test says so. */
        IS_ANSWERED_LATE
    }

    private record Trap(Predicate<TxnRequest> which, Fate fate) {}

    /** The requests about leases. */
    final List<String> leases = new CopyOnWriteArrayList<>();

    private final Client real;
    private final CompletableFuture<Void> release = new CompletableFuture<>();

    /** Written by the test; the request that it catches removes it. */
    private volatile List<Trap> traps = List.of();

    private volatile CompletableFuture<?> caught = new CompletableFuture<>();

    Tampering(Client real) {
        this.real = real;
    }

    static boolean isEntry(TxnRequest request) {
        return request.getCompareCount() == 2;
    }

    static boolean isDeletion(TxnRequest request) {
        return request.getSuccessCount() > 0 && request.getSuccess(0).hasRequestDeleteRange();
    }

    static boolean isMove(TxnRequest request) {
        return request.getCompareCount() == 1 && request.getSuccess(0).hasRequestPut();
    }

    /** Catches the next such request. */
    void catchNext(Predicate<TxnRequest> which, Fate fate) {
        caught = new CompletableFuture<>();
        traps = List.of(new Trap(which, fate));
    }

    void untilCaught() {
        Waiting.until("the request is sent", () -> traps.isEmpty());
    }

    /** Lets go what was caught, and waits for its effect. */
    void letGo() {
        boolean unused = release.complete(null);
        Waiting.until("the late request is carried out", () -> caught.isDone());
    }

    Client client() {
        KV kv = proxy(
                KV.class,
                real.getKVClient(),
                (method, args) -> method.getName().equals("txn")
                        ? new Caught(real.getKVClient().txn())
                        : null);
        Lease lease = proxy(Lease.class, real.getLeaseClient(), (method, args) -> {
            leases.add(method.getName());
            return null;
        });
        return proxy(Client.class, real, (method, args) -> switch (method.getName()) {
            case "getKVClient" -> kv;
            case "getLeaseClient" -> lease;
            default -> null;
        });
    }

    private CompletableFuture<TxnResponse> fate(TxnRequest request, Supplier<CompletableFuture<TxnResponse>> real) {
        for (Trap trap : traps) {
            if (trap.which().test(request)) {
                CompletableFuture<TxnResponse> answer = trap.fate() == Fate.ARRIVES_LATE
                        ? release.thenCompose(go -> real.get())
                        : real.get().thenCombine(release, (it, go) -> it);
                caught = answer;
                traps = List.of();
                return answer;
            }
        }
        return real.get();
    }

    private final class Caught implements Txn {

        private final Txn sent;
        private final TxnImpl seen;

        Caught(Txn sent) {
            this.sent = sent;
            seen = TxnImpl.newTxn(request -> fate(request, sent::commit), ByteSequence.EMPTY);
        }

        @Override
        public Txn If(Cmp... conditions) {
            sent.If(conditions);
            seen.If(conditions);
            return this;
        }

        @Override
        public Txn Then(Op... ops) {
            sent.Then(ops);
            seen.Then(ops);
            return this;
        }

        @Override
        public Txn Else(Op... ops) {
            sent.Else(ops);
            seen.Else(ops);
            return this;
        }

        @Override
        public CompletableFuture<TxnResponse> commit() {
            return seen.commit();
        }
    }

    private interface Other {
        /** Returns null if the real one is called. */
        Object call(Method method, Object[] args);
    }

    private static <T> T proxy(Class<T> type, T real, Other other) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
            Object result = other.call(method, args);
            try {
                return result != null ? result : method.invoke(real, args);
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
            }
        }));
    }
}
