package io.holdfast.examples.flashsale;

import java.util.StringJoiner;

/**
 * A buyer's answer, as a line of the ledger.
 *
 * @param shop the shop that gave the answer
 * @param buyer the buyer that got it
 * @param fencingToken the token of the lease under which the shop gave it, 0 without a lock
 * @param stockSeen the items that were left, as far as the shop knew: 0 is the answer "sold out"
 * @param waitedMicros how long the shop waited for the lock
 */
record Visit(String shop, int buyer, long fencingToken, int stockSeen, long waitedMicros) {

    boolean isSale() {
        return stockSeen > 0;
    }

    String toLine() {
        return new StringJoiner(" ")
                .add(shop)
                .add(Integer.toString(buyer))
                .add(Long.toString(fencingToken))
                .add(Integer.toString(stockSeen))
                .add(Long.toString(waitedMicros))
                .toString();
    }

    static Visit parse(String line) {
        String[] words = line.split(" ", 5);
        return new Visit(
                words[0],
                Integer.parseInt(words[1]),
                Long.parseLong(words[2]),
                Integer.parseInt(words[3]),
                Long.parseLong(words[4]));
    }
}
