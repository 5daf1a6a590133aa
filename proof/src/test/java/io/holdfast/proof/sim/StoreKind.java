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
            return new RedisStore(world, network, mutant, plan.claimTime());
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

    /** In the build: some seconds for each. */
    long usualSchedules() {
        return switch (this) {
            case MEMORY -> 4_000;
            case REDIS -> 2_000;
            case REDLOCK -> 500;
            case ZOOKEEPER -> 1_000;
        };
    }
}
