package io.holdfast.examples.flashsale;

import java.util.List;

/**
 * The settings that the coordinator passes to a shop on its command line. The servers' addresses are not part of them: they may hold a password,
 * and all users of a machine can read command lines.
 *
 * @param shop the name of the shop
 * @param keys the keys of the sale
 * @param withLock whether visits are under the lock
 * @param localHandOver whether its tills hand the lock over inside its JVM
 * @param accidentAt the stock at which it stops while it holds the lock; -1 for never
 */
record ShopOrder(String shop, SaleKeys keys, boolean withLock, boolean localHandOver, int accidentAt) {

    /** The environment variable with the address of the stock. */
    static final String REDIS_URI = "FLASH_SALE_REDIS";

    /** The environment variable with the {@link LockAddress}. */
    static final String LOCK = "FLASH_SALE_LOCK";

    List<String> toArguments() {
        return List.of(
                shop,
                keys.prefix(),
                Boolean.toString(withLock),
                Boolean.toString(localHandOver),
                Integer.toString(accidentAt));
    }

    static ShopOrder parse(String[] arguments) {
        return new ShopOrder(
                arguments[0],
                new SaleKeys(arguments[1]),
                Boolean.parseBoolean(arguments[2]),
                Boolean.parseBoolean(arguments[3]),
                Integer.parseInt(arguments[4]));
    }
}
