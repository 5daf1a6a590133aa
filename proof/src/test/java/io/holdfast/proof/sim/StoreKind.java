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
            return new RedisStore(world, network, mutant, plan);
        }
    },
    REDLOCK {
        @Override
        Store make(World world, Network network, Plan plan, Mutant mutant) {
            return new RedlockStore(world, network, mutant, plan);
        }
    },
    CLUSTER {
        @Override
        Store make(World world, Network network, Plan plan, Mutant mutant) {
            return new ClusterStore(world, network, mutant, plan);
        }
    },
    ZOOKEEPER {
        @Override
        Store make(World world, Network network, Plan plan, Mutant mutant) {
            return new ZooKeeperStore(world, network, mutant, plan);
        }
    },
    POSTGRESQL {
        @Override
        Store make(World world, Network network, Plan plan, Mutant mutant) {
            return new SqlStore(world, network, mutant, plan);
        }
    },
    ETCD {
        @Override
        Store make(World world, Network network, Plan plan, Mutant mutant) {
            return new EtcdStore(world, network, mutant, plan);
        }
    },
    MEMORY_HAND_OVER {
        @Override
        StoreKind below() {
            return MEMORY;
        }
    },
    REDIS_HAND_OVER {
        @Override
        StoreKind below() {
            return REDIS;
        }
    },
    REDLOCK_HAND_OVER {
        @Override
        StoreKind below() {
            return REDLOCK;
        }
    };

    Store make(World world, Network network, Plan plan, Mutant mutant) {
        return new TenureStore(below().make(world, network, plan, mutant), world, plan, mutant);
    }

    /** Returns the store below the hand-over inside processes; itself without such a hand-over. */
    StoreKind below() {
        return this;
    }

    boolean handsOver() {
        return below() != this;
    }

    boolean isOneProcess() {
        return handsOver() && below().isOneProcess();
    }

    /** Returns the number of schedules in the default build: about a second for each store. */
    long usualSchedules() {
        int few = switch (below()) {
            case MEMORY -> 400;
            case REDIS -> 200;
            case CLUSTER -> 60;
            case REDLOCK -> 50;
            default -> 100;
        };
        return few * Long.getLong("holdfast.cases", 1);
    }
}
