package io.holdfast.proof.sim;

import io.holdfast.proof.sim.ZooServer.Answer;
import io.holdfast.proof.sim.ZooServer.Ask;
import io.holdfast.proof.sim.ZooTree.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * The effect of a write, as its leader decides.
 *
 * @param codes the code of each operation, if there are several
 * @param change the change, which is the same at each server
 */
record PreparedWrite(Code code, String path, @Nullable List<Code> codes, Consumer<ZooTree> change) {

    /** Prepares the refusal of a write by an ended session. */
    static PreparedWrite ofNobody(Ask ask) {
        return failed(Code.SESSIONEXPIRED, ask.path());
    }

    private static PreparedWrite failed(Code code, String path) {
        return new PreparedWrite(code, path, null, tree -> {});
    }

    /**
     * Prepares the write of a live session.
     *
     * @param head the tree with all proposed writes
     * @param zxid the number of the write
     */
    static PreparedWrite of(Ask ask, ZooTree head, long zxid) {
        String path = ask.path();
        return switch (ask.kind()) {
            case CREATE_SEQUENTIAL -> enter(ask, head, zxid);
            case CREATE_CONTAINER -> {
                Node node = new Node(0, zxid, zxid, "");
                yield head.has(path)
                        ? failed(Code.NODEEXISTS, path)
                        : head.has(ZooTree.parentOf(path))
                                ? new PreparedWrite(Code.OK, path, null, tree -> tree.put(path, node))
                                : failed(Code.NONODE, path);
            }
            case BEGIN -> begin(ask, head, zxid);
            case DELETE ->
                head.has(path)
                        ? new PreparedWrite(Code.OK, path, null, tree -> tree.remove(path))
                        : failed(Code.NONODE, path);
            case DELETE_ALL -> {
                PreparedWrite checked = check(ask, head);
                yield checked.code() == Code.OK
                        ? new PreparedWrite(
                                Code.OK,
                                path,
                                checked.codes(),
                                tree -> ask.paths().forEach(tree::remove))
                        : checked;
            }
            case SET -> {
                Node before = head.get(path);
                if (before == null) {
                    yield failed(Code.NONODE, path);
                }
                Node node = new Node(before.owner(), before.czxid(), zxid, ask.data());
                yield new PreparedWrite(Code.OK, path, null, tree -> tree.set(path, node));
            }
            case CHECK -> check(ask, head);
            default -> throw new IllegalStateException("no write: " + ask);
        };
    }

    private static PreparedWrite enter(Ask ask, ZooTree head, long zxid) {
        String queue = ZooTree.parentOf(ask.path());
        if (!head.has(queue)) {
            return failed(Code.NONODE, ask.path());
        }
        int number = head.nextNumber(queue);
        String path = numbered(ask.path(), number);
        Node node = new Node(ask.session(), zxid, zxid, "");
        return new PreparedWrite(Code.OK, path, null, tree -> {
            tree.counted(queue, number);
            tree.put(path, node);
        });
    }

    /** Creates a queue with its first node, whose data is written at once. */
    private static PreparedWrite begin(Ask ask, ZooTree head, long zxid) {
        String queue = ZooTree.parentOf(ask.path());
        Code refusal = head.has(queue) ? Code.NODEEXISTS : Code.NONODE;
        if (head.has(queue) || !head.has(ZooTree.parentOf(queue))) {
            List<Code> codes = List.of(refusal, Code.RUNTIMEINCONSISTENCY, Code.RUNTIMEINCONSISTENCY);
            return new PreparedWrite(refusal, ask.path(), codes, tree -> {});
        }
        Node node = new Node(ask.session(), zxid, zxid, ask.data());
        return new PreparedWrite(Code.OK, ask.path(), List.of(Code.OK, Code.OK, Code.OK), tree -> {
            tree.put(queue, new Node(0, zxid, zxid, ""));
            tree.counted(queue, 0);
            tree.put(ask.path(), node);
        });
    }

    private static PreparedWrite check(Ask ask, ZooTree head) {
        List<Code> codes = new ArrayList<>();
        boolean isOk = true;
        for (String one : ask.paths()) {
            codes.add(!isOk ? Code.RUNTIMEINCONSISTENCY : head.has(one) ? Code.OK : Code.NONODE);
            isOk &= codes.get(codes.size() - 1) == Code.OK;
        }
        return new PreparedWrite(isOk ? Code.OK : Code.NONODE, ask.path(), codes, tree -> {});
    }

    private static String numbered(String path, int number) {
        String digits = Integer.toString(number);
        return path + "0".repeat(Math.max(0, 10 - digits.length())) + digits;
    }

    Answer answer(Ask ask, long zxid) {
        return new Answer(code, path, null, null, zxid, ask.session(), codes, 0);
    }
}
