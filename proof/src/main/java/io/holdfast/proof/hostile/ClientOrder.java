package io.holdfast.proof.hostile;

import java.nio.file.Path;
import java.util.List;

/**
 * The settings of a client process.
 *
 * @param name the name of the process, unique in the campaign
 * @param seed the seed of its choices
 * @param lanes how many operations it runs at a time
 * @param journal the file of its history
 * @param register the address of the {@link Register}
 * @param address the address of the locks
 */
record ClientOrder(String name, long seed, int lanes, Path journal, String register, Address address) {

    List<String> toArguments() {
        return List.of(
                name, Long.toString(seed), Integer.toString(lanes), journal.toString(), register, address.toText());
    }

    static ClientOrder parse(String... arguments) {
        return new ClientOrder(
                arguments[0],
                Long.parseLong(arguments[1]),
                Integer.parseInt(arguments[2]),
                Path.of(arguments[3]),
                arguments[4],
                Address.parse(arguments[5]));
    }
}
