package io.holdfast.redis;

import java.util.List;

/**
 * The names of one mutex's keys: the holder's, which is prefix, name in braces, {@code :mutex}, and those that add to it. The
 * name is the hash tag, so all keys of a lock are in one slot of a cluster; percent signs and braces in it are
 * percent-encoded, so that no name can choose another tag or another lock's keys.
 *
 * @param holder the holder's key, of which all others are made
 */
record MutexKeys(String holder) {

    private static final String SUFFIX = "}:mutex";

    static MutexKeys of(String prefix, String lockName) {
        return new MutexKeys(prefix + '{' + encode(lockName) + SUFFIX);
    }

    /** The keys in the order of the scripts' KEYS. */
    List<String> all(String claimId) {
        return List.of(
                holder,
                holder + ":queue",
                holder + ":waiters",
                holder + ":token",
                holder + ":gone:" + claimId,
                holder + ":interest");
    }

    /** The lock's name, for messages. */
    String lockName() {
        String encoded = holder.substring(holder.indexOf('{') + 1, holder.length() - SUFFIX.length());
        return encoded.replace("%7B", "{").replace("%7D", "}").replace("%25", "%");
    }

    static boolean isHolderKey(String key) {
        int tag = key.indexOf('{');
        return tag >= 0 && key.endsWith(SUFFIX) && tag + 1 < key.length() - SUFFIX.length();
    }

    private static String encode(String name) {
        boolean isPlain = name.indexOf('{') < 0 && name.indexOf('}') < 0 && name.indexOf('%') < 0;
        return isPlain ? name : name.replace("%", "%25").replace("{", "%7B").replace("}", "%7D");
    }
}
