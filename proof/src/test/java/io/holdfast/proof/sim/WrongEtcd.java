package io.holdfast.proof.sim;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Mistakes of the back end for etcd, seen at its door: requests that lack a part, and answers that it reads in a wrong way. */
enum WrongEtcd {
    NONE,

    /** An attempt that arrives after the release of its claim takes the lock. */
    NO_COMPARISON_WITH_THE_TOMBSTONE {
        @Override
        TxnRequest wrong(TxnRequest request) {
            return withoutComparisons(request, "/gone/");
        }
    },

    /** A release leaves no tombstone. */
    NO_TOMBSTONE {
        @Override
        TxnRequest wrong(TxnRequest request) {
            return withoutOperations(
                    request, it -> it.hasRequestPut() && isIn(it.getRequestPut().getKey(), "/gone/"));
        }
    },

    /** A renewal puts a place that has been deleted meanwhile. */
    PLACE_THAT_COMES_BACK {
        @Override
        TxnRequest wrong(TxnRequest request) {
            boolean isMove = request.getCompareCount() == 1
                    && request.getCompare(0).getTarget() == Compare.CompareTarget.MOD
                    && request.getSuccessList().stream().anyMatch(RequestOp::hasRequestPut);
            return isMove ? request.toBuilder().clearCompare().build() : request;
        }
    },

    /** Places that do not end with their client. */
    PLACE_WITHOUT_A_LEASE {
        @Override
        TxnRequest wrong(TxnRequest request) {
            return withOperations(request, it -> {
                PutRequest put = it.getRequestPut();
                return it.hasRequestPut() && isIn(put.getKey(), "/line/")
                        ? it.toBuilder()
                                .setRequestPut(put.toBuilder().clearLease())
                                .build()
                        : it;
            });
        }
    },

    /** A writer leaves no mark, so readers do not see it. */
    WRITER_WITHOUT_A_MARK {
        @Override
        TxnRequest wrong(TxnRequest request) {
            return withoutOperations(
                    request, it -> it.hasRequestPut() && isIn(it.getRequestPut().getKey(), "/mark/"));
        }
    },

    /** A released writer leaves its mark behind. */
    MARK_THAT_STAYS {
        @Override
        TxnRequest wrong(TxnRequest request) {
            return withoutOperations(
                    request,
                    it -> it.hasRequestDeleteRange()
                            && isIn(it.getRequestDeleteRange().getKey(), "/mark/"));
        }
    },

    /** A waiter looks at one key before it only, and takes its own place for that one. */
    BLOCKER_THAT_IS_NOT_READ {
        @Override
        TxnRequest wrong(TxnRequest request) {
            return withOperations(
                    request,
                    it -> it.hasRequestRange() && it.getRequestRange().getLimit() == 2
                            ? it.toBuilder()
                                    .setRequestRange(
                                            it.getRequestRange().toBuilder().setLimit(1))
                                    .build()
                            : it);
        }
    },

    /** A lease of etcd is believed in for four times its time to live. */
    LONG_LEASE {
        @Override
        long seconds(long granted) {
            return 4 * granted;
        }
    };

    /** Returns what the wrong back end sends. */
    TxnRequest sent(TxnRequest request) {
        return withOperations(
                wrong(request),
                it -> it.hasRequestTxn()
                        ? RequestOp.newBuilder()
                                .setRequestTxn(sent(it.getRequestTxn()))
                                .build()
                        : it);
    }

    /** Changes a transaction. Those inside it come by themselves. */
    TxnRequest wrong(TxnRequest request) {
        return request;
    }

    long seconds(long granted) {
        return granted;
    }

    private static boolean isIn(ByteString key, String part) {
        return key.toString(UTF_8).contains(part);
    }

    private static TxnRequest withoutComparisons(TxnRequest request, String part) {
        TxnRequest.Builder other = request.toBuilder().clearCompare();
        request.getCompareList().stream().filter(it -> !isIn(it.getKey(), part)).forEach(other::addCompare);
        return other.build();
    }

    /** Puts an empty transaction in the place of each of them, so that answers keep their order. */
    private static TxnRequest withoutOperations(TxnRequest request, Predicate<RequestOp> unwanted) {
        RequestOp nothing = RequestOp.newBuilder()
                .setRequestTxn(TxnRequest.getDefaultInstance())
                .build();
        return withOperations(request, it -> unwanted.test(it) ? nothing : it);
    }

    private static TxnRequest withOperations(TxnRequest request, UnaryOperator<RequestOp> wrong) {
        TxnRequest.Builder other = request.toBuilder().clearSuccess().clearFailure();
        request.getSuccessList().forEach(it -> other.addSuccess(wrong.apply(it)));
        request.getFailureList().forEach(it -> other.addFailure(wrong.apply(it)));
        return other.build();
    }
}
