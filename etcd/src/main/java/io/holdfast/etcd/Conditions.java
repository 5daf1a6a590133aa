package io.holdfast.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;

/** What a transaction compares. */
final class Conditions {

    private Conditions() {}

    static Cmp absent(ByteSequence key) {
        return createdAt(key, 0);
    }

    static Cmp createdAt(ByteSequence key, long revision) {
        return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(revision));
    }

    static Cmp modifiedAt(ByteSequence key, long revision) {
        return new Cmp(key, Cmp.Op.EQUAL, CmpTarget.modRevision(revision));
    }
}
