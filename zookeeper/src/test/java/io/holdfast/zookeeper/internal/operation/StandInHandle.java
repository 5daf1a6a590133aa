package io.holdfast.zookeeper.internal.operation;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/** A client of ZooKeeper that claims to be connected. It answers a request when a test says so, or never. */
@SuppressWarnings("try") // the driver's close may be interrupted
final class StandInHandle extends ZooKeeper {

    private final List<AsyncCallback.ChildrenCallback> lists = new ArrayList<>();
    private final List<AsyncCallback.StatCallback> existences = new ArrayList<>();
    private final List<AsyncCallback.Create2Callback> creations = new ArrayList<>();
    private final List<AsyncCallback.DataCallback> reads = new ArrayList<>();
    private final List<String> created = new ArrayList<>();
    private final List<String> written = new ArrayList<>();
    private final List<AsyncCallback.MultiCallback> transactions = new ArrayList<>();
    private final List<String> deleted = new ArrayList<>();
    private final List<AsyncCallback.VoidCallback> deletions = new ArrayList<>();
    private final List<List<String>> inTransactions = new ArrayList<>();
    private byte[] lastWritten = {};
    private boolean isBroken;

    StandInHandle() throws IOException {
        super("127.0.0.1:1", 3_000, event -> {}, new ZKClientConfig());
    }

    @Override
    public States getState() {
        return States.CONNECTED;
    }

    @Override
    public int getSessionTimeout() {
        return 3_000;
    }

    @Override
    public void getChildren(String path, Watcher watcher, AsyncCallback.ChildrenCallback cb, Object ctx) {
        lists.add(cb);
    }

    @Override
    public void exists(String path, Watcher watcher, AsyncCallback.StatCallback cb, Object ctx) {
        existences.add(cb);
    }

    @Override
    public void getData(String path, Watcher watcher, AsyncCallback.DataCallback cb, Object ctx) {
        reads.add(cb);
    }

    @Override
    public void setData(String path, byte[] data, int version, AsyncCallback.StatCallback cb, Object ctx) {
        written.add(path);
        lastWritten = data;
    }

    @Override
    public void delete(String path, int version, AsyncCallback.VoidCallback cb, Object ctx) {
        deleted.add(path);
        deletions.add(cb);
    }

    @Override
    public void create(
            String path, byte[] data, List<ACL> acl, CreateMode mode, AsyncCallback.Create2Callback cb, Object ctx) {
        created.add(path);
        creations.add(cb);
        if (isBroken) {
            throw new NoClassDefFoundError("on purpose");
        }
    }

    /** Answers at once. */
    @Override
    public void sync(String path, AsyncCallback.VoidCallback cb, Object ctx) {
        cb.processResult(0, path, ctx);
    }

    /** From now on, each creation is sent and then fails with an error of the JVM. */
    void breakAfterSending() {
        isBroken = true;
    }

    @Override
    public void multi(Iterable<Op> operations, AsyncCallback.MultiCallback cb, Object ctx) {
        transactions.add(cb);
        List<String> paths = new ArrayList<>();
        operations.forEach(operation -> paths.add(operation.getPath()));
        inTransactions.add(paths);
    }

    /** Answers the first open deletion. */
    void answerDeletion() {
        deletions.remove(0).processResult(0, null, null);
    }

    /** Answers all deletions and transactions that are open now. A transaction is refused at the first node with another answer than {@code OK}. */
    void answerAll(Function<String, Code> answers) {
        List<String> alone = deleted.subList(deleted.size() - deletions.size(), deleted.size());
        List<Code> codes = alone.stream().map(answers).toList();
        List<List<String>> together = List.copyOf(inTransactions);
        List<AsyncCallback.VoidCallback> open = take(deletions);
        for (int i = 0; i < open.size(); i++) {
            open.get(i).processResult(codes.get(i).intValue(), null, null);
        }
        together.forEach(paths -> answerTransaction(paths.stream().map(answers).toArray(Code[]::new)));
    }

    /** Returns the paths of each open transaction. */
    List<List<String>> transactions() {
        return inTransactions;
    }

    /** Answers the first open transaction. */
    void answerTransaction(Code... codes) {
        inTransactions.remove(0);
        Code first = Stream.of(codes).filter(it -> it != Code.OK).findFirst().orElse(Code.OK);
        List<OpResult> results = Stream.of(codes)
                .<OpResult>map(
                        it -> first == Code.OK ? new OpResult.DeleteResult() : new OpResult.ErrorResult(it.intValue()))
                .toList();
        transactions.remove(0).processResult(first.intValue(), null, null, results);
    }

    /** Returns the deletions in their order, those of transactions not included. */
    List<String> deleted() {
        return deleted;
    }

    /** Returns the path of each open creation, without the number; those of transactions are not included. */
    List<String> created() {
        return created;
    }

    /** Returns the nodes whose data was written, in their order. No such request is answered. */
    List<String> written() {
        return written;
    }

    /** Answers the first open creation: the node exists. */
    void answerCreation(String path) {
        created.remove(0);
        creations.remove(0).processResult(0, path, null, path, new Stat());
    }

    /** Answers the first open creation, and the list that was sent with it: there is no queue. */
    void answerCreationWithoutQueue() {
        int code = Code.NONODE.intValue();
        created.remove(0);
        creations.remove(0).processResult(code, null, null, null, null);
        lists.remove(0).processResult(code, null, null, null);
    }

    /** Answers the first open request for the data of a node: it has the data that was written last. */
    void answerDataAsWritten(String path) {
        reads.remove(0).processResult(0, path, null, lastWritten, new Stat());
    }

    /** Answers the first open request for the data of a node: there is no such node. */
    void answerDataOfNoNode(String path) {
        reads.remove(0).processResult(Code.NONODE.intValue(), path, null, null, null);
    }

    int lists() {
        return lists.size();
    }

    /** Answers the first open list. */
    void answerList(String path, List<String> names) {
        lists.remove(0).processResult(0, path, null, names);
    }

    /** Loses the connection and all open requests. */
    void lose(String path) {
        int code = Code.CONNECTIONLOSS.intValue();
        take(lists).forEach(it -> it.processResult(code, path, null, null));
        take(existences).forEach(it -> it.processResult(code, path, null, null));
    }

    private static <T> List<T> take(List<T> all) {
        List<T> taken = List.copyOf(all);
        all.clear();
        return taken;
    }

    /** Answers the first open request for the state of a node. */
    void answerExistence(String path, int children) {
        Stat found = new Stat();
        found.setNumChildren(children);
        existences.remove(0).processResult(0, path, null, found);
    }
}
