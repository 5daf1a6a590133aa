-- No key of the queue may expire before its longest-leased waiter is stale. (PEXPIRE GT is not in 6.2.) Twice as long, so that it is
-- not to be done for each waiter. The other key may be older, and be kept longer. Included, never run alone.
local function keep(key, lease, other)
  if call('PTTL', key) < lease then
    call('PEXPIRE', key, 2 * lease)
    if other and call('PTTL', other) < 2 * lease then
      call('PEXPIRE', other, 2 * lease)
    end
  end
end
