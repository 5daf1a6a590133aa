package io.holdfast.proof.soak;

import java.util.List;

/**
 * The settings of the client process.
 *
 * @param name a part of its fresh names
 * @param target the back end
 * @param rate cycles per second
 * @param flaw the leak on purpose
 * @param servers the addresses of the servers, in the form that the back end expects
 */
record SoakOrder(String name, Target target, int rate, Flaw flaw, List<String> servers) {

    List<String> toArguments() {
        return List.of(name, target.word(), Integer.toString(rate), flaw.word(), String.join(" ", servers));
    }

    static SoakOrder parse(String... arguments) {
        return new SoakOrder(
                arguments[0],
                Target.parse(arguments[1]),
                Integer.parseInt(arguments[2]),
                Flaw.parse(arguments[3]),
                List.of(arguments[4].split(" ")));
    }
}
