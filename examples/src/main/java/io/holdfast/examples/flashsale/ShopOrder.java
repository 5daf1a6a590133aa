package io.holdfast.examples.flashsale;

import java.util.List;

/**
 * What the coordinator tells a shop on its command line. Addresses of servers are not part of it: see {@link Servers}.
 *
 * @param shop its name
 * @param keys of the sale
 * @param withLock whether visits are guarded
 * @param accidentAt the stock at which it stops with the lock in hand; -1 for never
 */
record ShopOrder(String shop, SaleKeys keys, boolean withLock, int accidentAt) {

    List<String> toArguments() {
        return List.of(shop, keys.prefix(), Boolean.toString(withLock), Integer.toString(accidentAt));
    }

    static ShopOrder parse(String[] arguments) {
        return new ShopOrder(
                arguments[0],
                new SaleKeys(arguments[1]),
                Boolean.parseBoolean(arguments[2]),
                Integer.parseInt(arguments[3]));
    }
}
