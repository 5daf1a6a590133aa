-- Keeps a key of the queue until its longest-leased waiter is stale. (PEXPIRE GT is not in 6.2.) It sets twice that
-- time, so that most waiters need no PEXPIRE. The other key may be older, and may be kept longer. Included, never run
-- alone.
local function keep(key, lease, other)
  if call('PTTL', key) < lease then
    call('PEXPIRE', key, 2 * lease)
    if other and call('PTTL', other) < 2 * lease then
      call('PEXPIRE', other, 2 * lease)
    end
  end
end
