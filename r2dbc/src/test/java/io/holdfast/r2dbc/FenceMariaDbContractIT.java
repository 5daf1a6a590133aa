package io.holdfast.r2dbc;

import java.util.List;

class FenceMariaDbContractIT extends FenceContractIT {

    @Override
    Store newStore() {
        return Store.withSchema(MariaDbStore.mariaDb());
    }

    @Override
    String dialect() {
        return "mariadb";
    }

    @Override
    List<Mutant> mutants() {
        return List.of(
                new Mutant(
                        "a shared lock of XA",
                        FenceContractIT::laterGrantAfterPrepare,
                        with("if p_checked then", "if true then")),
                new Mutant(
                        "no end of the lease",
                        FenceContractIT::end,
                        without("\n     and expires_us > timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))")),
                new Mutant("no downgrade", FenceContractIT::downgrade, without(" and (p_checked or not wrote)")),
                new Mutant(
                        "no row of the fence",
                        FenceContractIT::laterGrant,
                        with("if p_checked then", "if true then set v_passed = 1; elseif false then")));
    }

    @Override
    String drop() {
        return "drop procedure holdfast_mutant";
    }

    @Override
    String fence() {
        String file = Store.schema(dialect());
        int start = file.indexOf("create procedure holdfast_fence_v1");
        return file.substring(start, file.indexOf("end //", start) + "end".length());
    }
}
