package io.holdfast.proof.sim;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.DeleteRangeResponse;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.PutResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.ResponseOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.Status;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** What the members of etcd agree on: keys with their revisions, leases, and the changes since the last compaction. */
final class EtcdData {

    /** The default limit of etcd for the operations of a transaction. */
    private static final int MOST_OPERATIONS = 128;

    /**
     * One change of one key.
     *
     * @param now the key afterwards; without a value if it was deleted
     * @param before null if there was no such key
     */
    record Change(
            long revision,
            boolean isDeletion,
            KeyValue now,
            @Nullable KeyValue before) {}

    /** A lease, with the keys that end with it. */
    private record Lease(long seconds, Set<ByteString> keys) {}

    private final NavigableMap<ByteString, KeyValue> keys =
            new TreeMap<>(ByteString.unsignedLexicographicalComparator());
    private final Map<Long, Lease> leases = new LinkedHashMap<>();
    private final List<Change> history = new ArrayList<>();
    private long revision = 1;
    private long compacted;

    long revision() {
        return revision;
    }

    long compacted() {
        return compacted;
    }

    List<Change> history() {
        return history;
    }

    /** Returns the time to live of a lease in seconds; 0 if there is none. */
    long secondsOf(long lease) {
        Lease known = leases.get(lease);
        return known == null ? 0 : known.seconds();
    }

    Collection<Long> leases() {
        return List.copyOf(leases.keySet());
    }

    List<String> keys() {
        return keys.keySet().stream()
                .map(it -> it.toString(StandardCharsets.UTF_8))
                .toList();
    }

    void grant(long lease, long seconds) {
        leases.put(lease, new Lease(seconds, new LinkedHashSet<>()));
    }

    /** Deletes the keys of the lease, all at one revision. Returns whether there was such a lease. */
    boolean revoke(long lease) {
        Lease ended = leases.remove(lease);
        if (ended != null && !ended.keys().isEmpty()) {
            revision++;
            List.copyOf(ended.keys()).forEach(this::delete);
        }
        return ended != null;
    }

    void compact() {
        compacted = revision;
        history.removeIf(it -> it.revision() < compacted);
    }

    /**
     * Applies a transaction, or throws what etcd answers, and then changes nothing. As in etcd, all comparisons come before all changes, also those of
     * transactions inside it.
     */
    TxnResponse txn(TxnRequest request) {
        checkSize(request, MOST_OPERATIONS);
        Set<ByteString> unused = checkPuts(List.of(nested(request)));
        Deque<Boolean> path = new ArrayDeque<>();
        choose(request, path);
        checkLeases(request, new ArrayDeque<>(path));
        long next = revision + 1;
        int before = history.size();
        revision = next;
        TxnResponse answer = apply(request, path);
        if (history.size() == before) {
            revision = next - 1;
        }
        return answer.toBuilder().setHeader(header()).build();
    }

    private ResponseHeader header() {
        return ResponseHeader.newBuilder().setRevision(revision).build();
    }

    private static RequestOp nested(TxnRequest request) {
        return RequestOp.newBuilder().setRequestTxn(request).build();
    }

    private static void checkSize(TxnRequest request, int most) {
        int size = Math.max(request.getCompareCount(), Math.max(request.getSuccessCount(), request.getFailureCount()));
        if (size > most) {
            throw new AssertionError("etcdserver: too many operations in txn request");
        }
        Stream.concat(request.getSuccessList().stream(), request.getFailureList().stream())
                .filter(RequestOp::hasRequestTxn)
                .forEach(it -> checkSize(it.getRequestTxn(), most - size));
    }

    /** Returns the keys that these operations may put. None of them may be put twice, or also be deleted on the same level. */
    private static Set<ByteString> checkPuts(List<RequestOp> operations) {
        Set<ByteString> deleted = new LinkedHashSet<>();
        operations.stream()
                .filter(RequestOp::hasRequestDeleteRange)
                .forEach(it -> deleted.add(it.getRequestDeleteRange().getKey()));
        Set<ByteString> put = new LinkedHashSet<>();
        for (RequestOp it : operations) {
            Set<ByteString> these = new LinkedHashSet<>();
            if (it.hasRequestTxn()) {
                these.addAll(checkPuts(it.getRequestTxn().getSuccessList()));
                these.addAll(checkPuts(it.getRequestTxn().getFailureList()));
            } else if (it.hasRequestPut()) {
                these.add(it.getRequestPut().getKey());
            }
            for (ByteString key : these) {
                if (!put.add(key) || deleted.contains(key)) {
                    throw new AssertionError("etcdserver: duplicate key given in txn request");
                }
            }
        }
        return put;
    }

    /** Compares, from the outside to the inside. */
    private void choose(TxnRequest request, Deque<Boolean> path) {
        boolean isSo = request.getCompareList().stream().allMatch(this::matches);
        path.add(isSo);
        for (RequestOp operation : chosen(request, isSo)) {
            if (operation.hasRequestTxn()) {
                choose(operation.getRequestTxn(), path);
            }
        }
    }

    private static List<RequestOp> chosen(TxnRequest request, boolean isSo) {
        return isSo ? request.getSuccessList() : request.getFailureList();
    }

    private void checkLeases(TxnRequest request, Deque<Boolean> path) {
        for (RequestOp operation : chosen(request, path.remove())) {
            if (operation.hasRequestTxn()) {
                checkLeases(operation.getRequestTxn(), path);
            } else if (operation.hasRequestPut()) {
                long lease = operation.getRequestPut().getLease();
                if (lease != 0 && !leases.containsKey(lease)) {
                    throw Status.NOT_FOUND
                            .withDescription("etcdserver: requested lease not found")
                            .asRuntimeException();
                }
            }
        }
    }

    private boolean matches(Compare it) {
        KeyValue found = keys.getOrDefault(it.getKey(), KeyValue.getDefaultInstance());
        int order = switch (it.getTarget()) {
            case CREATE -> Long.compare(found.getCreateRevision(), it.getCreateRevision());
            case MOD -> Long.compare(found.getModRevision(), it.getModRevision());
            case VERSION -> Long.compare(found.getVersion(), it.getVersion());
            default -> throw new UnsupportedOperationException("not simulated: " + it);
        };
        return switch (it.getResult()) {
            case EQUAL -> order == 0;
            case NOT_EQUAL -> order != 0;
            case GREATER -> order > 0;
            case LESS -> order < 0;
            default -> throw new UnsupportedOperationException("not simulated: " + it);
        };
    }

    private TxnResponse apply(TxnRequest request, Deque<Boolean> path) {
        boolean isSo = path.remove();
        TxnResponse.Builder answer = TxnResponse.newBuilder().setSucceeded(isSo).setHeader(header());
        for (RequestOp operation : chosen(request, isSo)) {
            answer.addResponses(apply(operation, path));
        }
        return answer.build();
    }

    private ResponseOp apply(RequestOp operation, Deque<Boolean> path) {
        ResponseOp.Builder answer = ResponseOp.newBuilder();
        switch (operation.getRequestCase()) {
            case REQUEST_RANGE -> answer.setResponseRange(range(operation.getRequestRange()));
            case REQUEST_PUT -> {
                put(operation.getRequestPut());
                answer.setResponsePut(PutResponse.getDefaultInstance());
            }
            case REQUEST_DELETE_RANGE -> {
                DeleteRangeRequest it = operation.getRequestDeleteRange();
                List<ByteString> all =
                        List.copyOf(in(it.getKey(), it.getRangeEnd()).keySet());
                all.forEach(this::delete);
                answer.setResponseDeleteRange(DeleteRangeResponse.newBuilder().setDeleted(all.size()));
            }
            case REQUEST_TXN -> answer.setResponseTxn(apply(operation.getRequestTxn(), path));
            default -> throw new UnsupportedOperationException("not simulated: " + operation);
        }
        return answer.build();
    }

    private NavigableMap<ByteString, KeyValue> in(ByteString key, ByteString end) {
        return end.isEmpty() ? keys.subMap(key, true, key, true) : keys.subMap(key, true, end, false);
    }

    private RangeResponse range(RangeRequest request) {
        Collection<KeyValue> all = in(request.getKey(), request.getRangeEnd()).values();
        RangeResponse.Builder answer = RangeResponse.newBuilder().setCount(all.size());
        if (request.getCountOnly()) {
            return answer.build();
        }
        long most = request.getMaxCreateRevision() == 0 ? Long.MAX_VALUE : request.getMaxCreateRevision();
        Comparator<KeyValue> order = request.getSortTarget() == RangeRequest.SortTarget.CREATE
                ? Comparator.comparingLong(KeyValue::getCreateRevision)
                : Comparator.comparing(KeyValue::getKey, ByteString.unsignedLexicographicalComparator());
        all.stream()
                .filter(it -> it.getCreateRevision() <= most)
                .sorted(request.getSortOrder() == RangeRequest.SortOrder.DESCEND ? order.reversed() : order)
                .limit(request.getLimit() == 0 ? Long.MAX_VALUE : request.getLimit())
                .map(it -> request.getKeysOnly() ? it.toBuilder().clearValue().build() : it)
                .forEach(answer::addKvs);
        return answer.build();
    }

    private void put(PutRequest request) {
        KeyValue before = keys.get(request.getKey());
        KeyValue.Builder now = KeyValue.newBuilder()
                .setKey(request.getKey())
                .setValue(request.getValue())
                .setLease(request.getLease())
                .setModRevision(revision)
                .setCreateRevision(before == null ? revision : before.getCreateRevision())
                .setVersion(before == null ? 1 : before.getVersion() + 1);
        detach(before);
        if (request.getLease() != 0) {
            leases.get(request.getLease()).keys().add(request.getKey());
        }
        changed(false, now.build(), before);
    }

    private void delete(ByteString key) {
        KeyValue before = keys.get(key);
        detach(before);
        changed(true, KeyValue.newBuilder().setKey(key).setModRevision(revision).build(), before);
    }

    private void detach(@Nullable KeyValue before) {
        Lease lease = before == null ? null : leases.get(before.getLease());
        if (lease != null) {
            lease.keys().remove(before.getKey());
        }
    }

    private void changed(boolean isDeletion, KeyValue now, @Nullable KeyValue before) {
        if (isDeletion) {
            keys.remove(now.getKey());
        } else {
            keys.put(now.getKey(), now);
        }
        history.add(new Change(revision, isDeletion, now, before));
    }
}
