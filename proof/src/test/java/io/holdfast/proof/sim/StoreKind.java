package io.holdfast.proof.sim;

/** The stores that are simulated. */
enum StoreKind {
    MEMORY {
        @Override
        Store make(World world, Network network, Plan plan, Mutant mutant) {
            return new MemoryStore(mutant);
        }

        @Override
        boolean isOneProcess() {
            return true;
        }
    },
    REDIS {
        @Override
        Store make(World world, Network network, Plan plan, Mutant mutant) {
            return new RedisStore(world, network, mutant, plan.lease(), plan.claimTime());
        }
    },
    REDLOCK {
        @Override
        Store make(World world, Network network, Plan plan, Mutant mutant) {
            return new RedlockStore(world, network, mutant, plan);
        }
    },
    ZOOKEEPER {
        @Override
        Store make(World world, Network network, Plan plan, Mutant mutant) {
            return new ZooKeeperStore(world, network, mutant, plan);
        }
    };

    abstract Store make(World world, Network network, Plan plan, Mutant mutant);

    boolean isOneProcess() {
        return false;
    }

    /** In the default build: about a second for each. */
    long usualSchedules() {
        int few = switch (this) {
            case MEMORY -> 400;
            case REDIS -> 200;
            case REDLOCK -> 50;
            case ZOOKEEPER -> 100;
        };
        return few * Long.getLong("holdfast.cases", 1);
    }
}
